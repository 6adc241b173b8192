import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { Order } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { isAmount } from '../../lib/amounts.ts';
import { isOpen } from '../../lib/order-actions.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { isMinutes, Minutes } from '../../ui/fields.tsx';
import { Section } from '../../ui/page.tsx';

interface ActionProps {
  readonly order: Order;
}

/** What only a sandbox can do: pay as the payer, and move the clock. */
export const SandboxActions = ({ order }: ActionProps) => (
  <Section title={t.orders.sandbox.title} note={t.orders.sandbox.note}>
    <Group>
      <Pay key={order.remaining_amount} order={order} />
      {isOpen(order) && <MoveClock order={order} />}
    </Group>
  </Section>
);

const Pay = ({ order }: ActionProps) => {
  const [amount, setAmount] = useState(order.remaining_amount);
  const [outcome, setOutcome] = useState('confirmed');
  const body = {
    order_id: order.id,
    payment_rail: order.deposit_instructions[0]?.rail ?? 'crypto_deposit',
    amount: amount.trim(),
    currency: order.currency,
    outcome,
  };
  return (
    <ConfirmButton
      label={t.orders.sandbox.pay}
      effect={t.orders.sandbox.payEffect}
      isReady={isAmount(amount.trim())}
      onConfirm={() => call('POST', '/debug/register-payment', { body })}
    >
      <TextInput
        label={`${t.orders.sandbox.amount} (${order.currency})`}
        inputMode="decimal"
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
        data-autofocus
      />
      <NativeSelect
        label={t.orders.sandbox.outcome}
        value={outcome}
        onChange={(event) => setOutcome(event.currentTarget.value)}
        data={Object.entries(t.orders.sandbox.outcomes).map(([value, label]) => ({ value, label }))}
      />
    </ConfirmButton>
  );
};

const MoveClock = ({ order }: ActionProps) => {
  const [minutes, setMinutes] = useState('61');
  return (
    <ConfirmButton
      label={t.orders.sandbox.expire}
      effect={t.orders.sandbox.expireEffect}
      isReady={isMinutes(minutes)}
      onConfirm={() => call('POST', `/debug/orders/${order.id}/advance-time`, { body: { minutes: Number(minutes) } })}
    >
      <Minutes value={minutes} onChange={setMinutes} />
    </ConfirmButton>
  );
};
