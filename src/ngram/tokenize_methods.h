/*
 * tokenize_methods.h
 *	  What tokenize.c, which knows types, shares with the files that know how
 *	  to cut a text.
 */
#ifndef DPNGRAM_TOKENIZE_METHODS_H
#define DPNGRAM_TOKENIZE_METHODS_H

#include "ngram/tokenize.h"

#define TOKENIZER_HINT                                                                     \
	"Tokenizers are \"word\", \"whitespace\", \"parser:NAME\" with a text search parser, " \
	"and \"config:NAME\" with a text search configuration."

typedef struct CharacterClasses CharacterClasses;
typedef struct TextSearch TextSearch;

/* tokenize_word.c */
extern CharacterClasses *character_classes_create(void);
extern void cut_words(CharacterClasses *classes, const char *text, int len,
					  TokenSink sink, void *state);
extern void cut_whitespace(CharacterClasses *classes, const char *text, int len,
						   TokenSink sink, void *state);

/* tokenize_parser.c */
extern TextSearch *text_search_parser(const char *name);
extern TextSearch *text_search_config(const char *name);
extern TextSearch *text_search_of_parser(Oid parser);
extern TextSearch *text_search_of_config(Oid config);
extern Oid text_search_object(const TextSearch *search);
extern void text_search_guard(TextSearch *search, Oid owner);
extern void cut_text_search(TextSearch *search, char *text, int len,
							TokenSink sink, void *state);

#endif /* DPNGRAM_TOKENIZE_METHODS_H */
