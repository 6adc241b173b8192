const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded|wrote only \d+ of \d+ bytes/, 'is full: make room on it'],
  [/Read-only file system/, 'is read-only: make it writable'],
  [/Input\/output error/, 'fails: see what the system says of it'],
];

/** What PostgreSQL's log says of the disk that `folder` is on, in a sentence with what to do; null when it speaks of something else. */
export const diskFault = (log: string, folder: string): string | null => {
  const fault = FAULTS.find(([pattern]) => pattern.test(log));
  return fault ? `the disk of ${folder} ${fault[1]}` : null;
};
