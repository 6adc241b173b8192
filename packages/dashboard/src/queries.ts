import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Failure, get, retryAfterMs } from './api.ts';

const POLL_MS = 5_000;
const FRESH_MS = 60_000;

interface LiveOptions {
  readonly enabled?: boolean;
  /** Shows the answer of the path before until that of this one is there: for pages of one list. */
  readonly keep?: boolean;
}

/** What the gateway answers to a path, read again every few seconds while the page is visible. */
export const useLive = <T>(path: string, { enabled = true, keep = false }: LiveOptions = {}): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => get<T>(path, signal),
    refetchInterval: ({ state: { error } }) => (isFinal(error) ? false : Math.max(POLL_MS, retryAfterMs(error))),
    ...(keep && { placeholderData: keepPreviousData }),
    enabled,
  });

/** Whether the same request fails again: it is faulty, forbidden, or about something that is not there. */
const isFinal = (error: unknown): boolean =>
  error instanceof Failure && error.status >= 400 && error.status < 500 && error.status !== 429;

/** What changes so rarely that one read a minute is enough. */
export const useOnce = <T>(path: string, { enabled = true }: { readonly enabled?: boolean } = {}): UseQueryResult<T> =>
  useQuery<T>({ queryKey: [path], queryFn: ({ signal }) => get<T>(path, signal), staleTime: FRESH_MS, enabled });
