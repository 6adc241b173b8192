import type { Refund } from '@cpg/sdk';
import { t } from '../../texts/index.ts';
import { useCurrencyWords } from '../../ui/currencies.ts';
import { ListView } from '../../ui/list-view.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import { refundColumns, refundCsvColumns } from './columns.tsx';

export const RefundsPage = () => (
  <Page title={t.money.refundsTitle}>
    <Needs need="readPayments">
      <ListView<Refund>
        list="refunds"
        label={t.money.refundsTitle}
        columns={refundColumns()}
        csvColumns={refundCsvColumns()}
        fields={[
          { kind: 'several', name: 'status', label: t.orders.status, words: t.money.refundStatuses },
          { kind: 'one', name: 'currency', label: t.orders.currency, words: useCurrencyWords() },
          { kind: 'from', name: 'from_date', label: t.list.from },
          { kind: 'to', name: 'to_date', label: t.list.to },
          { kind: 'from', name: 'ended_from', label: t.money.refund.endedFrom },
          { kind: 'to', name: 'ended_to', label: t.money.refund.endedTo },
        ]}
        empty={<Empty>{t.money.refundsEmpty}</Empty>}
      />
    </Needs>
  </Page>
);
