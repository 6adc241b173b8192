import type { ApiKey, ApiKeyPage, User, UserPage } from '@cpg/sdk';
import { useOnce } from '../queries.ts';
import { useAllowed } from '../session.ts';

// At most 100 of them: none before they are read, and none that the user may not see.

export const useUsers = (): readonly User[] =>
  useOnce<UserPage>('/v1/users?limit=100', { enabled: useAllowed('readUsers') }).data?.items ?? [];

export const useKeys = (): readonly ApiKey[] =>
  useOnce<ApiKeyPage>('/v1/api-keys?limit=100', { enabled: useAllowed('readKeys') }).data?.items ?? [];
