import { Box, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { t } from '../texts/index.ts';

interface PageProps {
  readonly title: string;
  /** Beside the title, for example a status. */
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A page with its heading, which is the title of the window too. */
export const Page = ({ title, beside, actions, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} – ${t.appName}`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Title order={1} className="breaking">
            {title}
          </Title>
          {beside}
        </Group>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
};

interface SectionProps {
  readonly title: string;
  readonly note?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page with a heading of its own. */
export const Section = ({ title, note, actions, children }: SectionProps) => (
  <Paper withBorder p="md" component="section" aria-label={title} className="section">
    <Group justify="space-between" mb="sm" gap="xs">
      <Title order={2} className="breaking">
        {title}
      </Title>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
    {note !== undefined && (
      <Text size="sm" c="dimmed" mb="sm" maw="44rem">
        {note}
      </Text>
    )}
    {children}
  </Paper>
);

/** Names with their values. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) => (
  <Box component="dl" className="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </Box>
);
