export const HEARTBEAT_MS = 1_500;

/** However long the work takes, the member stays in its group. */
export const withHeartbeats = async <T>(heartbeat: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
  const beating = setInterval(() => void heartbeat().catch(() => {}), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beating);
  }
};
