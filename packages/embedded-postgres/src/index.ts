export { type PostgresOptions, type PostgresServer, startPostgres } from './server.ts';
