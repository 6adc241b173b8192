import { ActionIcon, Badge, Code, CopyButton, Group, Text, Tooltip } from '@mantine/core';
import { formatAmount } from '../lib/amounts.ts';
import { nowMs } from '../lib/clock.ts';
import { shorten } from '../lib/ids.ts';
import { formatTime, relativeTime } from '../lib/times.ts';
import { locale, t, wordFor } from '../texts/index.ts';
import { CopyIcon, DoneIcon } from './icons.tsx';

export const Copy = ({ value, label }: { readonly value: string; readonly label?: string }) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? t.actions.copied : t.actions.copy}>
        <ActionIcon variant="subtle" color="gray" size="sm" onClick={copy} aria-label={label ?? t.actions.copy}>
          {copied ? <DoneIcon /> : <CopyIcon />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
);

interface AmountProps {
  readonly value: string;
  readonly currency?: string | undefined;
  readonly copy?: boolean;
  readonly strong?: boolean;
}

/** An amount, with its full value on hover. */
export const Amount = ({ value, currency, copy = false, strong = false }: AmountProps) => (
  <Group component="span" gap={4} wrap="nowrap" display="inline-flex">
    <Text
      span
      inherit
      title={`${value}${currency === undefined ? '' : ` ${currency}`}`}
      fw={strong ? 650 : undefined}
      className="number"
    >
      {formatAmount(value, locale)}
      {currency !== undefined && (
        <Text span inherit c="dimmed" fw={400}>
          {' '}
          {currency}
        </Text>
      )}
    </Text>
    {copy && <Copy value={value} />}
  </Group>
);

/** A time in words if it is near, with the exact one on hover. */
export const Time = ({ at, exact = false }: { readonly at: string; readonly exact?: boolean }) => {
  const full = formatTime(at, locale);
  return (
    <time dateTime={at} title={`${full}\n${at}`} className="time">
      {exact ? full : (relativeTime(at, nowMs(), locale) ?? full)}
    </time>
  );
};

/** An identifier, shortened for reading and whole for copying. */
export const Id = ({ value, short = true }: { readonly value: string; readonly short?: boolean }) => (
  <Group component="span" gap={2} wrap="nowrap" display="inline-flex" maw="100%">
    <Code title={value} className={short ? undefined : 'breaking'}>
      {short ? shorten(value) : value}
    </Code>
    <Copy value={value} label={`${t.actions.copy} ${value}`} />
  </Group>
);

const COLORS: Readonly<Record<string, string>> = {
  paid: 'green',
  applied: 'green',
  delivered: 'green',
  active: 'green',
  settled: 'green',
  enabled: 'green',
  awaiting_payment: 'blue',
  initialized: 'blue',
  received: 'blue',
  pending: 'blue',
  sent: 'blue',
  running: 'blue',
  invited: 'blue',
  recorded: 'gray',
  partially_paid: 'yellow',
  orphan: 'orange',
  partially_paid_expired: 'orange',
  paused: 'orange',
  disabled: 'red',
  reversed: 'red',
  failed: 'red',
};

/** The status of an HTTP response. */
export const HttpStatus = ({ status }: { readonly status: number }) => (
  <Badge variant="light" color={status >= 500 ? 'red' : status >= 400 ? 'orange' : 'green'} className="status">
    {status}
  </Badge>
);

interface StatusProps {
  readonly value: string;
  readonly words: Readonly<Record<string, string>>;
}

/** A status in words. One that this version does not know shows as itself. */
export const Status = ({ value, words }: StatusProps) => (
  <Badge variant="light" color={COLORS[value] ?? 'gray'} tt="none" className="status">
    {wordFor(words, value)}
  </Badge>
);
