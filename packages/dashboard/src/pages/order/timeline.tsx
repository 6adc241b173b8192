import { Checkbox, Stack, Text } from '@mantine/core';
import type { OrderHistoryPage, User } from '@cpg/sdk';
import { useState } from 'react';
import { formatAmount } from '../../lib/amounts.ts';
import { formatTime } from '../../lib/times.ts';
import { actorOf, addressesOf, type Entry, type Moment, timeline } from '../../lib/timeline.ts';
import { locale, t } from '../../texts/index.ts';
import { useUsers } from '../../ui/names.ts';
import { Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Id, Time } from '../../ui/values.tsx';

interface TimelineProps {
  readonly history: OrderHistoryPage;
  readonly at: string | undefined;
}

/** The history in words. What came after the shown time is pale. */
export const Timeline = ({ history, at }: TimelineProps) => {
  const [showsAll, setShowsAll] = useState(false);
  const users = useUsers();
  const moments = timeline(history.items, { brief: !showsAll });
  return (
    <Section
      title={t.history.title}
      actions={
        <Checkbox
          size="xs"
          label={t.history.showAll}
          checked={showsAll}
          onChange={(event) => setShowsAll(event.currentTarget.checked)}
        />
      }
    >
      <ol className="timeline">
        {moments.map((moment) => (
          <li key={moment.id} className={at !== undefined && moment.recorded_at > at ? 'later' : undefined}>
            <Text size="sm">{sentenceOf(moment)}</Text>
            <Text size="xs" c="dimmed">
              <Time at={moment.at} exact /> {t.history.by} {actorWords(moment.actor, users)}
            </Text>
          </li>
        ))}
      </ol>
      {history.next_cursor !== undefined && (
        <Text size="sm" c="dimmed">
          {t.history.more}
        </Text>
      )}
    </Section>
  );
};

const sentenceOf = ({ type, facts }: Moment): string => {
  const sentence = Object.hasOwn(t.history.sentences, type) ? t.history.sentences[type] : undefined;
  if (!sentence) return type;
  const text = sentence(
    facts,
    (amount, currency) => (amount === undefined ? '' : `${formatAmount(amount, locale)} ${currency ?? ''}`.trim()),
    (time) => (time === undefined ? '' : formatTime(time, locale)),
  );
  // Times end with `p.m.` in some languages.
  return text.replace(/\.\.$/, '.');
};

/** Users have a name, which everybody may see who sees the order. */
const actorWords = (actor: string, users: readonly User[]): string => {
  const { kind, name } = actorOf(actor);
  const user = users.find(({ id }) => kind === 'user' && id === name);
  if (user) return user.name ?? user.email;
  const words = Object.hasOwn(t.history.actors, kind) ? t.history.actors[kind] : undefined;
  return words ? words(name) : actor;
};

/** Every address that a payer can have seen. */
export const ShownAddresses = ({ entries }: { readonly entries: readonly Entry[] }) => {
  const addresses = addressesOf(entries);
  return (
    <Section title={t.orders.detail.addresses}>
      {addresses.length === 0 && <Empty>{t.orders.detail.noAddresses}</Empty>}
      <Stack gap="xs">
        {addresses.map(({ address, network, since }) => (
          <div key={`${network} ${address}`}>
            <Text size="sm">
              {network}{' '}
              <Text span inherit c="dimmed">
                {t.orders.detail.since} <Time at={since} exact />
              </Text>
            </Text>
            <Id value={address} short={false} />
          </div>
        ))}
      </Stack>
    </Section>
  );
};
