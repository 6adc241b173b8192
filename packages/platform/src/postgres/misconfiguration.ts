import { ConfigError } from '../config/config.ts';

// SQLSTATE: invalid_password, invalid_authorization_specification, invalid_catalog_name.
const WRONG_PASSWORD = '28P01';
const WRONG_USER = '28000';
const NO_DATABASE = '3D000';
const NO_TLS = /server does not support SSL connections/;
// PgBouncer, with the SQLSTATE of a broken connection.
const REFUSED_OPTIONS = /unsupported startup parameter/;
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The setting that makes PostgreSQL refuse a connection, and how to correct it; null for any other error. Names no
 *  user and no host: the readiness of the gateway is public. */
export const explainDatabaseError = (error: unknown): ConfigError | null => {
  if (!(error instanceof Error)) return null;
  const sentence = sentenceFor(error);
  return sentence === null ? null : new ConfigError(sentence, { cause: error });
};

const sentenceFor = (error: Error & { code?: unknown }): string | null => {
  const { code, message } = error;
  if (code === WRONG_PASSWORD)
    return 'PostgreSQL refuses the password of the user in DATABASE_URL: correct it there (percent-encode special characters), or set it in PostgreSQL';
  if (code === WRONG_USER)
    return 'PostgreSQL refuses the user in DATABASE_URL: correct it, or create the role and allow it in pg_hba.conf';
  if (code === NO_DATABASE)
    return 'the database in DATABASE_URL does not exist in PostgreSQL: create it, or correct DATABASE_URL';
  if (NO_TLS.test(message))
    return 'PostgreSQL offers no TLS: turn on ssl in PostgreSQL, or remove sslmode from DATABASE_URL';
  if (REFUSED_OPTIONS.test(message))
    return 'the pooler that DATABASE_URL leads to refuses options: remove options from DATABASE_URL';
  if (UNTRUSTED.has(String(code)))
    return 'the certificate of PostgreSQL is not signed by a trusted authority: add sslrootcert=<PEM file of the authority that signed it> to DATABASE_URL';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'the certificate of PostgreSQL is for another name: use a name of the certificate in DATABASE_URL';
  return null;
};
