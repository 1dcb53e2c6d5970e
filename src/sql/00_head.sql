-- The install script of dpngram, concatenated from the pieces in src/sql.
\echo Use "CREATE EXTENSION dpngram" to load this file. \quit

