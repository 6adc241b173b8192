#!/bin/sh
# Creates the certificates of this folder again. Needs OpenSSL 3.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/index"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = authority
[authority]
database = $work/index
new_certs_dir = $work
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
[of_authority]
basicConstraints = critical, CA:true
[of_host]
subjectAltName = DNS:localhost, IP:127.0.0.1
CONF

# certificate NAME SUBJECT EXTENSIONS LAST-DAY SIGNER...
certificate() {
  name=$1 subject=$2 extensions=$3 last=$4
  shift 4
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$name.key"
  openssl req -new -key "$name.key" -subj "/CN=$subject" -out "$work/$name.csr"
  openssl ca -batch -notext -config "$work/ca.conf" -in "$work/$name.csr" -extensions "$extensions" \
    -startdate 20200101000000Z -enddate "${last}000000Z" -out "$name.pem" "$@"
}
by_authority='-cert authority.pem -keyfile authority.key'
certificate authority 'Authority of the tests' of_authority 21200101 -selfsign -keyfile authority.key
certificate good localhost of_host 21200101 $by_authority
certificate expired localhost of_host 20200201 $by_authority
certificate self-signed localhost of_host 21200101 -selfsign -keyfile self-signed.key
rm authority.key
