import { Button, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure } from '../api.ts';
import { t } from '../texts/index.ts';
import { ButtonLink } from '../ui/links.tsx';
import { Page } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';

interface NoticeProps {
  readonly children: string;
  readonly action: ReactNode;
  /** Alone, without navigation, it is all that the page has. */
  readonly component?: 'main' | 'div';
}

const Notice = ({ children, action, component = 'main' }: NoticeProps) => (
  <Stack component={component} align="center" my="xl" px="md">
    <Text component="h1" size="md" fw={400} ta="center">
      {children}
    </Text>
    {action}
  </Stack>
);

export const MissingPage = () => (
  <Notice action={<ButtonLink to="/">{t.states.goHome}</ButtonLink>}>{t.states.pageMissing}</Notice>
);

const reload = () => <Button onClick={() => location.reload()}>{t.states.reload}</Button>;

/** Instead of everything, if that threw. */
export const CrashedPage = () => <Notice action={reload()}>{t.states.crashed}</Notice>;

/** Instead of a page that threw, or that could not be loaded. The navigation stays. */
export const CrashedPart = ({ error }: { readonly error: unknown }) => {
  const router = useRouter();
  return error instanceof Failure ? (
    <Page title={t.states.failed}>
      <Failed error={error} onRetry={() => void router.invalidate()} />
    </Page>
  ) : (
    <Notice component="div" action={reload()}>
      {t.states.crashed}
    </Notice>
  );
};
