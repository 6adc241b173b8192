import { NativeSelect, TextInput } from '@mantine/core';
import type { Payment, RefundPayment } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { formatAmount } from '../../lib/amounts.ts';
import { mayBeApplied } from '../../lib/order-actions.ts';
import { locale, t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';

interface ActionProps {
  readonly payment: Payment;
}

/** What can be done with a payment: an orphan may go to its order, and money may be recorded as sent back. The surplus
 *  comes first, because giving it back changes no order. */
export const PaymentActions = ({ payment, brief = false }: ActionProps & { readonly brief?: boolean }) => {
  const { status, due_back_amount: due } = payment;
  return (
    <>
      {mayBeApplied(payment) && <Apply payment={payment} />}
      {due !== undefined && <Refund payment={payment} part="surplus" />}
      {status === 'applied' && !brief && <Refund payment={payment} part="all" />}
    </>
  );
};

const Apply = ({ payment }: ActionProps) => (
  <ConfirmButton
    label={t.money.apply}
    effect={t.money.applyEffect}
    need="updateOrders"
    onConfirm={(idempotencyKey) =>
      call('POST', `/v1/orders/${encodeURIComponent(payment.order_id)}/capture`, { body: {}, idempotencyKey })
    }
  />
);

const Refund = ({ payment, part }: ActionProps & { readonly part: 'surplus' | 'all' }) => {
  const [fields, setFields] = useState({ settle: 'recorded', tx_hash: '', destination: '', reason: '' });
  const set = (name: keyof typeof fields, value: string) => setFields({ ...fields, [name]: value });
  const isOnChain = payment.payment_rail === 'crypto_deposit';
  const due = `${formatAmount(payment.due_back_amount ?? '0', locale)} ${payment.asset_label ?? payment.currency}`;
  return (
    <ConfirmButton
      label={labelOf(payment, part)}
      effect={part === 'surplus' ? t.money.refundSurplusEffect(due) : t.money.refundAllEffect}
      need="refund"
      color={part === 'all' ? 'red.9' : undefined}
      onConfirm={(idempotencyKey) =>
        call('POST', `/v1/payments/${payment.id}/refund`, { body: refundOf(fields, part), idempotencyKey })
      }
    >
      {isOnChain && (
        <NativeSelect
          label={t.money.settle}
          value={fields.settle}
          onChange={(event) => set('settle', event.currentTarget.value)}
          data={Object.entries(t.money.settlements).map(([value, label]) => ({ value, label }))}
        />
      )}
      {fields.settle === 'recorded' && (
        <TextInput
          label={t.money.txHash}
          value={fields.tx_hash}
          onChange={(event) => set('tx_hash', event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t.money.destination}
        value={fields.destination}
        onChange={(event) => set('destination', event.currentTarget.value)}
      />
      <TextInput
        label={t.money.refundReason}
        value={fields.reason}
        onChange={(event) => set('reason', event.currentTarget.value)}
      />
    </ConfirmButton>
  );
};

const labelOf = ({ status }: Payment, part: 'surplus' | 'all'): string => {
  if (part === 'all') return t.money.refundAll;
  return status === 'orphan' ? t.money.refundOrphan : t.money.refundSurplus;
};

/** The request, without the fields that are empty. */
const refundOf = (fields: Readonly<Record<string, string>>, part: 'surplus' | 'all'): RefundPayment => {
  const { settle, tx_hash, ...texts } = fields;
  const given = Object.entries({ ...texts, ...(settle === 'recorded' && { tx_hash }) }).filter(([, text]) =>
    text?.trim(),
  );
  return {
    what: part,
    ...(settle === 'on_chain' && { settle }),
    ...Object.fromEntries(given.map(([name, text]) => [name, text?.trim()])),
  };
};
