import { Alert, Box, Button, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failure, isTemporary } from '../api.ts';
import { NEEDS, type Need } from '../lib/scopes.ts';
import { useAllowed } from '../session.ts';
import { t, wordFor } from '../texts/index.ts';

export const Loading = ({ rows = 4 }: { readonly rows?: number }) => (
  <Stack gap="sm" role="status" aria-label={t.states.loading}>
    {Array.from({ length: rows }, (_, row) => (
      <Skeleton key={row} height={24} />
    ))}
  </Stack>
);

/** What an error means, for the user. */
export const sayFailure = (error: unknown): string => {
  if (!(error instanceof Failure)) return t.states.failed;
  const known = wordFor(t.identity.failures, error.code);
  if (known !== error.code) return known;
  if (error.status === 0) return t.states.noAnswer;
  if (error.requiredScope !== undefined) return t.states.needs(error.requiredScope);
  if (error.status === 403 && error.message === '') return t.states.forbidden;
  if (error.status === 404 && error.message === '') return t.states.notFound;
  if (error.status === 429) return t.states.tooMany;
  if (error.status === 503) return t.states.overloaded;
  if (error.status >= 500) return t.states.broken;
  return error.message === '' ? t.states.failed : error.message;
};

interface FailedProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string;
}

/** Says why something failed, each faulty field included, and offers another try. */
export const Failed = ({ error, onRetry, title }: FailedProps) => {
  const { details = [], requestId, retryAfter } = error instanceof Failure ? error : {};
  return (
    <Alert color="red" variant="light" role="alert" title={title ?? t.states.failed}>
      <Stack gap="xs">
        {details.length === 0 && <Text size="sm">{sayFailure(error)}</Text>}
        {details.length > 0 && (
          <List size="sm">
            {details.map(({ path, message }) => (
              <List.Item key={`${path} ${message}`} className="breaking">
                <b>{path}</b>: {message}
              </List.Item>
            ))}
          </List>
        )}
        {retryAfter !== undefined && <Text size="sm">{t.states.wait(retryAfter)}</Text>}
        <Group gap="sm">
          {onRetry && (
            <Button size="xs" variant="default" onClick={onRetry}>
              {t.states.retry}
            </Button>
          )}
          {requestId !== undefined && (
            <Text size="xs" c="dimmed">
              {t.states.requestId} <code>{requestId}</code>
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
};

/** The same for a change. Without an answer, nobody knows whether it was made. */
export const ActionFailed = ({ error }: { readonly error: unknown }) => (
  <Failed error={error} title={isTemporary(error) ? t.actions.unknown : t.actions.failed} />
);

/** Says that there is nothing, and what to do about it. */
export const Empty = ({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) => (
  <Box py="xl" px="md" ta="center">
    <Text c="dimmed" mb={action === undefined ? 0 : 'sm'}>
      {children}
    </Text>
    {action}
  </Box>
);

interface QueryState<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface LoadedProps<T> {
  readonly query: QueryState<T>;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}

/** The data of a query, or that it loads, or why it failed. Data that was shown stays when a later poll fails. */
export const Loaded = <T,>({ query, rows, children }: LoadedProps<T>) => {
  const isRejected = query.error instanceof Failure && query.error.status === 400;
  const failed = query.error != null && <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined || isRejected) return failed || <Loading {...(rows !== undefined && { rows })} />;
  return (
    <>
      {failed}
      {children(query.data)}
    </>
  );
};

/** Shows its content to those who may see it, and a sentence to the others. */
export const Needs = ({ need, children }: { readonly need: Need; readonly children: ReactNode }) =>
  useAllowed(need) ? children : <Alert color="gray">{t.states.needs(NEEDS[need])}</Alert>;
