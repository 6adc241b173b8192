import type { Payment } from '@cpg/sdk';
import { activeFilters } from '../../lib/filters.ts';
import { t } from '../../texts/index.ts';
import { useAddress } from '../../ui/address.ts';
import { useCurrencyWords } from '../../ui/currencies.ts';
import { ListView } from '../../ui/list-view.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import { paymentColumns, paymentCsvColumns } from './columns.tsx';
import { Inbox } from './inbox.tsx';

export const PaymentsPage = () => {
  const isFiltered = Object.keys(activeFilters('payments', useAddress())).length > 0;
  return (
    <Page title={t.money.paymentsTitle}>
      <Needs need="readPayments">
        {!isFiltered && <Inbox />}
        <ListView<Payment>
          list="payments"
          label={t.money.paymentsTitle}
          columns={paymentColumns()}
          csvColumns={paymentCsvColumns()}
          fields={[
            { kind: 'several', name: 'status', label: t.orders.status, words: t.money.paymentStatuses },
            { kind: 'one', name: 'currency', label: t.orders.currency, words: useCurrencyWords() },
            {
              kind: 'one',
              name: 'due_back',
              label: t.money.payment.dueBackOnly,
              words: { true: t.money.payment.yes, false: t.money.payment.no },
            },
            { kind: 'text', name: 'tx_hash', label: t.money.payment.transaction },
            { kind: 'range', name: 'time', label: t.money.payment.time, times: t.money.payment.times },
          ]}
          empty={<Empty>{t.money.paymentsEmpty}</Empty>}
        />
      </Needs>
    </Page>
  );
};
