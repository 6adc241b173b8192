import { Code, Group, Stack, Table, Text } from '@mantine/core';
import type { Item, Order, Payment } from '@cpg/sdk';
import type { ReactNode } from 'react';
import { isZero } from '../../lib/amounts.ts';
import { appliedAmount } from '../../lib/order-actions.ts';
import { formatTime } from '../../lib/times.ts';
import { locale, t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Amount, Id, Status, Time } from '../../ui/values.tsx';

interface PartProps {
  readonly order: Order;
}

export const MoneyFacts = ({ order, links }: PartProps & { readonly links: ReactNode }) => {
  const { currency } = order;
  const amount = (value: string | undefined) =>
    value !== undefined && <Amount value={value} currency={currency} copy strong />;
  return (
    <Section title={t.orders.detail.money} actions={links}>
      <Facts
        facts={[
          [t.orders.total, amount(order.total_amount)],
          [t.orders.detail.applied, amount(appliedAmount(order))],
          [t.orders.remaining, amount(order.remaining_amount)],
          [t.orders.detail.shortfall, amount(order.shortfall_amount)],
          [t.orders.detail.dueBack, amount(order.due_back_amount)],
          [
            t.orders.detail.tolerance,
            order.underpayment_tolerance_percent !== undefined && `${order.underpayment_tolerance_percent} %`,
          ],
          [t.orders.created, order.created_at !== undefined && <Time at={order.created_at} exact />],
          [t.orders.expires, order.expiration_date !== undefined && <Time at={order.expiration_date} exact />],
          [t.orders.paidAt, order.paid_at !== undefined && <Time at={order.paid_at} exact />],
          [t.orders.detail.reason, order.status_reason !== undefined && <Code>{order.status_reason}</Code>],
        ]}
      />
    </Section>
  );
};

export const Items = ({ order: { items, item_totals } }: PartProps) => (
  <Section title={t.orders.detail.items}>
    <div className="table-frame" tabIndex={0}>
      <Table verticalSpacing={6} aria-label={t.orders.detail.items}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.orders.form.item}</Table.Th>
            <Table.Th ta="right">{t.orders.detail.quantity}</Table.Th>
            <Table.Th ta="right">{t.orders.detail.price}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item, index) => (
            <ItemRows key={index} item={item} />
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          {Object.entries(item_totals).map(([currency, total]) => (
            <Table.Tr key={currency}>
              <Table.Th colSpan={2}>{t.orders.detail.sum}</Table.Th>
              <Table.Th ta="right">
                <Amount value={total} currency={currency} />
              </Table.Th>
            </Table.Tr>
          ))}
        </Table.Tfoot>
      </Table>
    </div>
  </Section>
);

const ItemRows = ({ item }: { readonly item: Item }) => (
  <>
    {[item, ...(item.modifiers ?? [])].map(({ name, quantity, unit_price, currency }, index) => (
      <Table.Tr key={index}>
        <Table.Td className="breaking" pl={index === 0 ? undefined : 'xl'}>
          {name}
        </Table.Td>
        <Table.Td ta="right">{quantity}</Table.Td>
        <Table.Td ta="right">
          <Amount value={unit_price} currency={currency} />
        </Table.Td>
      </Table.Tr>
    ))}
  </>
);

export const OrderPayments = ({ order: { payments } }: PartProps) => (
  <Section title={t.orders.detail.payments}>
    {payments.length === 0 && <Empty>{t.orders.detail.noPayments}</Empty>}
    <Stack gap="lg">
      {payments.map((payment) => (
        <PaymentFacts key={payment.id} payment={payment} />
      ))}
    </Stack>
  </Section>
);

const PaymentFacts = ({ payment }: { readonly payment: Payment }) => {
  const { currency } = payment;
  const amount = (value: string | undefined) =>
    value !== undefined && !isZero(value) && <Amount value={value} currency={currency} copy />;
  const { paid, confirmations, transaction, surplus, refunded, block } = t.money.payment;
  return (
    <div>
      <Group gap="sm" mb="xs">
        <PageLink to={`/payments/${payment.id}`}>
          <Amount value={payment.paid_amount} currency={payment.asset_label ?? currency} strong />
        </PageLink>
        <Status value={payment.status} words={t.money.paymentStatuses} />
        {payment.orphan_reason !== undefined && (
          <Text size="sm">{wordFor(t.money.orphanReasons, payment.orphan_reason)}</Text>
        )}
        {payment.failure_reason !== undefined && <Code>{payment.failure_reason}</Code>}
      </Group>
      <Facts
        facts={[
          [paid, <Time key="time" at={payment.created_at} exact />],
          [t.orders.detail.applied, amount(payment.applied_amount)],
          [surplus, amount(payment.unapplied_amount)],
          [refunded, amount(payment.refunded_amount)],
          [t.orders.detail.dueBack, amount(payment.due_back_amount)],
          [confirmations, payment.confirmations],
          [block, payment.block?.height],
          [transaction, payment.tx_hash !== undefined && <Id value={payment.tx_hash} />],
        ]}
      />
    </div>
  );
};

export const Rates = ({ order: { rates, currency } }: PartProps) => (
  <Section title={t.orders.detail.rates}>
    <Stack gap="xs">
      {Object.entries(rates).map(([from, { rate, source, quoted_at, expires_at }]) => (
        <div key={from}>
          <Text size="sm" className="number">
            {t.orders.detail.rate(from, rate, currency)}
          </Text>
          <Text size="xs" c="dimmed">
            {t.orders.detail.rateNote(source, formatTime(quoted_at, locale), formatTime(expires_at, locale))}
          </Text>
        </div>
      ))}
    </Stack>
  </Section>
);

export const MoreFacts = ({ order }: PartProps) => (
  <Section title={t.orders.detail.identifiers}>
    <Facts
      facts={[
        [t.orders.order, <Id key="id" value={order.id} />],
        [t.orders.reference, <Id key="reference" value={order.external_reference_id} short={false} />],
        [
          t.orders.detail.paymentReference,
          order.payment_reference !== undefined && <Id value={order.payment_reference} short={false} />,
        ],
        ...Object.entries(order.metadata ?? {}).map(
          ([name, value]) =>
            [`${t.orders.detail.metadata}: ${name}`, <Code key={name}>{metadataText(value)}</Code>] as const,
        ),
      ]}
    />
  </Section>
);

const metadataText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
