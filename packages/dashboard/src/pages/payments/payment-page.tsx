import type { Payment, RefundPage } from '@cpg/sdk';
import { Code } from '@mantine/core';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { useParam } from '../../ui/address.ts';
import { PageLink } from '../../ui/links.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table.tsx';
import { Amount, Id, Status, Time } from '../../ui/values.tsx';
import { refundColumns } from '../refunds/columns.tsx';
import { PaymentActions } from './actions.tsx';

export const PaymentPage = () => {
  const payment = useLive<Payment>(`/v1/payments/${encodeURIComponent(useParam('id'))}`);
  return (
    <Page
      title={t.money.paymentTitle}
      beside={payment.data && <Status value={payment.data.status} words={t.money.paymentStatuses} />}
      actions={payment.data && <PaymentActions payment={payment.data} />}
    >
      <Needs need="readPayments">
        <Loaded query={payment}>
          {(data) => (
            <>
              <PaymentFacts payment={data} />
              <Refunds payment={data} />
            </>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const PaymentFacts = ({ payment }: { readonly payment: Payment }) => {
  const names = t.money.payment;
  const amount = (value: string | undefined) =>
    value !== undefined && <Amount value={value} currency={payment.asset_label ?? payment.currency} copy strong />;
  return (
    <Section title={t.orders.detail.money}>
      <Facts
        facts={[
          [names.amount, amount(payment.paid_amount)],
          [names.fee, amount(payment.fee_amount)],
          [names.net, amount(payment.net_amount)],
          [t.orders.detail.applied, amount(payment.applied_amount)],
          [names.surplus, amount(payment.unapplied_amount)],
          [names.refunded, amount(payment.refunded_amount)],
          [names.reserved, amount(payment.reserved_amount)],
          [t.orders.detail.dueBack, amount(payment.due_back_amount)],
          [
            t.orders.detail.reason,
            payment.orphan_reason === undefined
              ? payment.failure_reason !== undefined && <Code>{payment.failure_reason}</Code>
              : wordFor(t.money.orphanReasons, payment.orphan_reason),
          ],
          [
            names.order,
            payment.order_id.startsWith('ord_') ? (
              <PageLink to={`/orders/${payment.order_id}`}>{names.showOrder}</PageLink>
            ) : (
              <Id value={payment.order_id} />
            ),
          ],
          [names.rail, wordFor(t.money.rails, payment.payment_rail)],
          [names.transaction, payment.tx_hash !== undefined && <Id value={payment.tx_hash} short={false} />],
          [names.confirmations, payment.confirmations],
          [names.block, payment.block && `${payment.block.height}`],
          [names.asset, payment.asset !== undefined && <Id value={payment.asset} short={false} />],
          [names.source, <Id key="source" value={payment.provider_id} short={false} />],
          [t.orders.created, <Time key="created" at={payment.created_at} exact />],
          ...(['applied', 'refunded', 'failed'] as const).map((name) => {
            const at = payment[`${name}_at`];
            return [names.times[name], at !== undefined && <Time at={at} exact />] as const;
          }),
          ['Id', <Id key="id" value={payment.id} />],
        ]}
      />
    </Section>
  );
};

const Refunds = ({ payment }: { readonly payment: Payment }) => {
  const refunds = useLive<RefundPage>(`/v1/refunds?payment_id=${payment.id}&limit=100`);
  return (
    <Section title={t.money.refundsOf}>
      <Loaded query={refunds}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.money.refundsEmpty}</Empty>
          ) : (
            <DataTable label={t.money.refundsOf} columns={refundColumns()} rows={items} />
          )
        }
      </Loaded>
    </Section>
  );
};
