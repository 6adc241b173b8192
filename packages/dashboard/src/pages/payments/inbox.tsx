import { Group, Stack, Text } from '@mantine/core';
import type { Payment, PaymentPage } from '@cpg/sdk';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Amount, Time } from '../../ui/values.tsx';
import { PaymentActions } from './actions.tsx';

const SHOWN = 10;

/** Payments that wait for a decision, each with its reason and what can be done. */
export const Inbox = () => {
  const payments = useLive<PaymentPage>(`/v1/payments?due_back=true&limit=${SHOWN}`);
  return (
    <Section
      title={t.money.inbox}
      note={t.money.inboxNote}
      actions={
        (payments.data?.total ?? 0) > SHOWN && (
          <PageLink to="/payments" search={{ due_back: 'true' }}>
            {t.list.shown(SHOWN, payments.data?.total ?? 0)}
          </PageLink>
        )
      }
    >
      <Loaded query={payments}>
        {({ items }) => (
          <Stack gap="md">
            {items.length === 0 && <Empty>{t.money.inboxEmpty}</Empty>}
            {items.map((payment) => (
              <Waiting key={payment.id} payment={payment} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
};

const Waiting = ({ payment }: { readonly payment: Payment }) => (
  <Group justify="space-between" gap="sm" className="waiting">
    <div>
      <PageLink to={`/payments/${payment.id}`}>
        <Amount
          value={payment.due_back_amount ?? payment.paid_amount}
          currency={payment.asset_label ?? payment.currency}
          strong
        />
      </PageLink>
      <Text size="sm">
        {payment.orphan_reason === undefined
          ? t.money.payment.surplus
          : wordFor(t.money.orphanReasons, payment.orphan_reason)}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={payment.created_at} />
      </Text>
    </div>
    <Group gap="xs">
      <PaymentActions payment={payment} brief />
    </Group>
  </Group>
);
