import { diskFault } from './readiness.ts';

// Log lines of PostgreSQL 18 on a full tmpfs, and on one mounted read-only.
test.each([
  ['ERROR:  could not extend file "base/16384/16472": No space left on device', 'is full: free some space on it'],
  ['PANIC:  could not write to file "pg_wal/xlogtemp.2081": No space left on device', 'is full: free some space on it'],
  [
    'FATAL:  could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 8',
    'is full: free some space on it',
  ],
  ['FATAL:  could not create lock file "postmaster.pid": Read-only file system', 'is read-only: make it writable'],
])('recognises a disk fault: %s', (line, fault) =>
  expect(diskFault(`2026-11-22 00:01:24.276 UTC [7] ${line}`, '/data')).toBe(`the disk of /data ${fault}`),
);

test.each([
  'ERROR:  duplicate key value violates unique constraint "webhooks_pkey"',
  'ERROR:  permission denied for table orders',
  'LOG:  database system is ready to accept connections',
])('ignores a log line without a disk fault: %s', (line) => expect(diskFault(line, '/data')).toBeNull());
