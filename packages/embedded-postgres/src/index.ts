export { FencedWriter, type FencedWriterOptions, WriterLockTaken, WriterUnavailable } from './fenced-writer.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './server.ts';
