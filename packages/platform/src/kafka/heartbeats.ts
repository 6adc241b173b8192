export const HEARTBEAT_INTERVAL_MS = 1_500;

/** Sends heartbeats while `work` runs, so that slow work does not cost the consumer its group membership. */
export const withHeartbeats = async <T>(heartbeat: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
  const timer = setInterval(() => void heartbeat().catch(() => {}), HEARTBEAT_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
};
