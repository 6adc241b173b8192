import { Checkbox, TextInput } from '@mantine/core';
import type { Order } from '@cpg/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Method } from '../../api.ts';
import { formatAmount, isAmount } from '../../lib/amounts.ts';
import { actionsOf, type OrderAction } from '../../lib/order-actions.ts';
import { locale, t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { isMinutes, Minutes } from '../../ui/fields.tsx';

interface ActionProps {
  readonly order: Order;
}

const send = (order: Order, method: Method, path: string, body?: object) => (idempotencyKey: string) =>
  call<Order>(method, `/v1/orders/${order.id}${path}`, {
    ...(body && { body }),
    ...(method === 'POST' && { idempotencyKey }),
  });

/** What may be done with the order now. Each says its effect before. */
export const OrderActions = ({ order }: ActionProps) =>
  actionsOf(order).map((action) => {
    const Button = BUTTONS[action];
    return <Button key={action} order={order} />;
  });

const Capture = ({ order }: ActionProps) => (
  <ConfirmButton
    label={t.orders.actions.capture}
    effect={t.orders.actions.captureEffect}
    need="updateOrders"
    onConfirm={send(order, 'POST', '/capture', {})}
  />
);

const Cancel = ({ order }: ActionProps) => {
  const [ifUnpaid, setIfUnpaid] = useState(false);
  return (
    <ConfirmButton
      label={t.orders.actions.cancel}
      effect={t.orders.actions.cancelEffect}
      need="updateOrders"
      color="red.9"
      onConfirm={send(order, 'POST', '/cancel', ifUnpaid ? { if_unpaid: true } : {})}
    >
      <Checkbox
        label={t.orders.actions.ifUnpaid}
        checked={ifUnpaid}
        onChange={(event) => setIfUnpaid(event.currentTarget.checked)}
      />
    </ConfirmButton>
  );
};

const Accept = ({ order }: ActionProps) => {
  const [reason, setReason] = useState('');
  const missing = `${formatAmount(order.remaining_amount, locale)} ${order.currency}`;
  return (
    <ConfirmButton
      label={t.orders.actions.accept}
      effect={t.orders.actions.acceptEffect(missing)}
      need="updateOrders"
      isReady={reason.trim() !== ''}
      onConfirm={send(order, 'POST', '/accept', { reason: reason.trim() })}
    >
      <TextInput
        label={t.orders.actions.acceptReason}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
    </ConfirmButton>
  );
};

const Extend = ({ order }: ActionProps) => {
  const [minutes, setMinutes] = useState('60');
  return (
    <ConfirmButton
      label={t.orders.actions.extend}
      effect={t.orders.actions.extendEffect}
      need="updateOrders"
      isReady={isMinutes(minutes)}
      onConfirm={send(order, 'PATCH', '', { expiration_minutes: Number(minutes) })}
    >
      <Minutes value={minutes} onChange={setMinutes} />
    </ConfirmButton>
  );
};

const Refund = ({ order }: ActionProps) => {
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const body = { amount: amount.trim(), ...(reason.trim() !== '' && { reason: reason.trim() }) };
  return (
    <ConfirmButton
      label={t.orders.actions.refund}
      effect={t.orders.actions.refundEffect}
      need="refund"
      isReady={isAmount(amount.trim())}
      onConfirm={async (key) => {
        await send(order, 'POST', '/refund', body)(key);
        setAmount('');
      }}
    >
      <TextInput
        label={`${t.orders.actions.refundAmount} (${order.currency})`}
        inputMode="decimal"
        value={amount}
        error={amount !== '' && !isAmount(amount.trim()) ? t.orders.form.amount : undefined}
        onChange={(event) => setAmount(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={t.orders.actions.refundReason}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmButton>
  );
};

const Delete = ({ order }: ActionProps) => {
  const [typed, setTyped] = useState('');
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label={t.orders.actions.delete}
      effect={t.orders.actions.deleteEffect}
      need="deleteOrders"
      color="red.9"
      isReady={typed === order.external_reference_id}
      onConfirm={async (key) => {
        await send(order, 'DELETE', '')(key);
        await navigate({ to: '/orders' });
      }}
    >
      <TextInput
        label={t.orders.actions.deleteConfirm(order.external_reference_id)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
    </ConfirmButton>
  );
};

const BUTTONS: Readonly<Record<OrderAction, (props: ActionProps) => React.JSX.Element>> = {
  capture: Capture,
  accept: Accept,
  extend: Extend,
  refund: Refund,
  cancel: Cancel,
  delete: Delete,
};
