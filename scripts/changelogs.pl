# changelogs.pl: who wrote what in the Debian changelogs whose names come on
# standard input: one row per author and entry, "author, source package, text" with tabs
# between them, as COPY reads it.
#
# An entry is a header "source (version) distribution; urgency=...", indented text,
# and a trailer " -- Name <mail>  date".  A line "[ Name ]" gives what follows it
# to that author; the rest is the trailer's.  The header is no part of the text.
# Packages built from one source carry the same changelog, so an entry counts once
# for its source and version.
use strict;
use warnings;
use IO::Uncompress::Gunzip;

my %seen;

sub copy_text # one line, escaped for COPY
{
    my $text = join(' ', @_);
    $text =~ s/\s+/ /g;
    $text =~ s/^ | $//g;
    $text =~ s/\\/\\\\/g;
    return $text;
}

sub utf8_bytes # an old entry may be Latin-1
{
    my $bytes = shift;
    my $copy = $bytes;
    utf8::encode($bytes) unless utf8::decode($copy);
    return $bytes;
}

sub print_entry # package, trailer's author, then the pairs [author or undef, lines]
{
    my ($package, $author, @sections) = @_;
    for my $section (@sections)
    {
        my ($name, @lines) = @$section;
        my $text = copy_text(@lines);
        my @columns = (copy_text($name // $author), $package, $text);
        print utf8_bytes(join("\t", @columns) . "\n") if $text ne '';
    }
    return;
}

sub read_changelog
{
    my $name = shift;
    my $file = IO::Uncompress::Gunzip->new($name, MultiStream => 1) or return;
    my ($package, $entry, $found, @sections);
    my $preface = 0;

    while (defined(my $line = $file->getline))
    {
        chomp $line;
        if ($line =~ /^([a-z0-9][a-z0-9+.-]*) \(([^()\s]+)\) [^;]*;/)
        {
            ($package, $entry) = ($1, "$1 $2");
            $found = 1;
            @sections = ([undef]);
        }
        elsif (!defined $entry)
        {
            # some other kind of changelog
            return if !$found && ++$preface > 20;
        }
        elsif ($line =~ /^ -- (.*?) *<([^<>]*)>/)
        {
            print_entry($package, $1 ne '' ? $1 : $2, @sections) unless $seen{$entry}++;
            $entry = undef;
        }
        elsif ($line =~ /^\s+\[ (.+) \]\s*$/)
        {
            # "[ Updated translations ]" is nobody's name
            push @sections, [$1 =~ /translat|debconf/i ? undef : $1];
        }
        elsif ($line =~ /^\s+\S/)
        {
            push @{ $sections[-1] }, $line;
        }
    }
    return;
}

while (my $name = <STDIN>)
{
    chomp $name;
    read_changelog($name);
}
