import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { call, Failure, setCsrfToken } from './api.ts';
import { allows, type Need } from './lib/scopes.ts';

interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly name?: string | null;
  readonly role: string;
  readonly has_password: boolean;
  /** Whether a new password needs the old one. */
  readonly needs_current_password: boolean;
  readonly has_totp: boolean;
}

export interface Session {
  readonly id: string;
  readonly user: SessionUser;
  readonly merchant: { readonly id: string; readonly name: string };
  readonly scopes: readonly string[];
  readonly environment: string;
  readonly csrf_token: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export const SESSION_KEY = ['session'];
const CHECK_EVERY_MS = 60_000;

/** The session, or null for nobody. */
export const readSession = async (signal?: AbortSignal): Promise<Session | null> => {
  try {
    const session = await call<Session>('GET', '/v1/sessions/current', { signal });
    setCsrfToken(session.csrf_token);
    return session;
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return null;
    throw error;
  }
};

export const useSessionQuery = (): UseQueryResult<Session | null> =>
  useQuery({
    queryKey: SESSION_KEY,
    queryFn: ({ signal }) => readSession(signal),
    refetchInterval: CHECK_EVERY_MS,
    staleTime: CHECK_EVERY_MS,
  });

export const SessionContext = createContext<Session | null>(null);

/** The session of a page that only users see. */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (!session) throw new Error('this page needs a session');
  return session;
};

/** Whether the user may do this. */
export const useAllowed = (need: Need): boolean => allows(useSession().scopes, need);
