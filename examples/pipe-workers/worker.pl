use strict; use warnings; use JSON::PP;
my $json = JSON::PP->new->utf8;
$| = 1;
while (my $line = <STDIN>) {
    my $request = $json->decode($line);
    my $result = eval { uc $request->{item}{line} };
    my $answer = defined $result ? { result => $result } : { error => "$@" };
    print $json->encode({ id => $request->{id}, %$answer }), "\n";
}
