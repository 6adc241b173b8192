export { FencedWriter, type FencedWriterOptions, WriterUnavailable } from './fenced-writer.ts';
export { WriterLockTaken } from './locked-session.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './server.ts';
