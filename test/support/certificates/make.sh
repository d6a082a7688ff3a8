#!/usr/bin/env bash
# Makes the certificates of these tests anew: one whose authority nobody trusts, and one that is expired, both for localhost; and one for
# service.example, a host that only a proxy finds.
set -euo pipefail
cd "$(dirname "$0")"
names='subjectAltName=DNS:localhost,IP:127.0.0.1'
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out foreign.pem -days 36500 -subj /CN=localhost -addext "$names"
openssl req -x509 -key key.pem -out service.pem -days 36500 -subj /CN=service.example -addext 'subjectAltName=DNS:service.example'

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
openssl req -new -key key.pem -subj /CN=localhost -out "$work/request.pem"
touch "$work/index.txt"
printf '[ca]\ndefault_ca=a\n[a]\ndatabase=%s/index.txt\nnew_certs_dir=%s\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n[p]\nCN=supplied\n[e]\n%s\n' \
  "$work" "$work" "$names" >"$work/ca.cnf"
openssl ca -batch -notext -selfsign -config "$work/ca.cnf" -keyfile key.pem -in "$work/request.pem" -out expired.pem \
  -startdate 20200101000000Z -enddate 20200102000000Z
