/** Passes at most `maxLines` lines a minute to `log`, and one more at its end with the number of the others. */
export const limitedLog = (log: (line: string) => void, maxLines: number): ((line: string) => void) => {
  let lines = 0;
  const endMinute = () => {
    if (lines > maxLines) log(`${lines - maxLines} more lines like these were left out in the last minute`);
    lines = 0;
  };
  return (line) => {
    if (lines === 0) setTimeout(endMinute, 60_000).unref();
    lines += 1;
    if (lines <= maxLines) log(line);
  };
};
