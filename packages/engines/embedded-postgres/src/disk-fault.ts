const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded|wrote only \d+ of \d+ bytes/, 'is full: free some space on it'],
  [/Read-only file system/, 'is read-only: make it writable'],
  [/Input\/output error/, 'has input/output errors: see the system log'],
];

/** Describes a disk fault that PostgreSQL's log reports, and what to do. `folder` names the disk.
 *  Returns null if the log reports no disk fault. */
export const diskFault = (log: string, folder: string): string | null => {
  const fault = FAULTS.find(([pattern]) => pattern.test(log));
  return fault ? `the disk of ${folder} ${fault[1]}` : null;
};
