import { Alert, Anchor, Button, CopyButton, Grid, Group, Stack } from '@mantine/core';
import type { Order, OrderHistoryPage } from '@cpg/sdk';
import { Failure } from '../../api.ts';
import { valueOf, writeSearch } from '../../lib/search-params.ts';
import { formatTime } from '../../lib/times.ts';
import { useLive } from '../../queries.ts';
import { useSession } from '../../session.ts';
import { locale, t } from '../../texts/index.ts';
import { useAddress, useParam, useSetAddress } from '../../ui/address.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Failed, Loaded, Loading, Needs } from '../../ui/states.tsx';
import { Status } from '../../ui/values.tsx';
import { OrderActions } from './actions.tsx';
import { AsOf } from './as-of.tsx';
import { OrderDeliveries } from './deliveries.tsx';
import { Items, MoneyFacts, MoreFacts, OrderPayments, Rates } from './parts.tsx';
import { SandboxActions } from './sandbox-actions.tsx';
import { ShownAddresses, Timeline } from './timeline.tsx';

export const OrderPage = () => (
  <Needs need="readOrders">
    <Detail id={useParam('id')} />
  </Needs>
);

const useOrder = (id: string, at: string | undefined) => {
  const path = `/v1/orders/${encodeURIComponent(id)}`;
  const history = useLive<OrderHistoryPage>(`${path}/history?limit=100`);
  const now = useLive<Order>(path);
  const past = useLive<Order>(`${path}${writeSearch({ at })}`, { enabled: at !== undefined, keep: true });
  return { history, now, past };
};

const Detail = ({ id }: { readonly id: string }) => {
  const at = valueOf(useAddress(), 'at');
  const { history, now, past } = useOrder(id, at);
  const shown = at === undefined ? now : past;
  const title = now.data?.external_reference_id ?? t.orders.order;
  if (now.error instanceof Failure && now.error.status === 404)
    return (
      <Page title={t.orders.order}>
        <Empty action={<ButtonLink to="/orders">{t.orders.title}</ButtonLink>}>{t.orders.detail.missing}</Empty>
      </Page>
    );
  // Together, because the history comes above the order, and would push it down.
  if (history.isPending || now.isPending)
    return (
      <Page title={title}>
        <Loading rows={12} />
      </Page>
    );
  const order = shown.data?.id === id ? shown.data : undefined;
  return (
    <Page
      title={title}
      beside={order && <Status value={order.status} words={t.orders.statuses} />}
      actions={at === undefined && now.data && <OrderActions order={now.data} />}
    >
      <Loaded query={history} rows={2}>
        {({ items }) => <AsOf entries={items} at={at} />}
      </Loaded>
      {at !== undefined && <Past at={at} />}
      {shown.error !== null && <Failed error={shown.error} onRetry={() => void shown.refetch()} />}
      {!order && shown.error === null && <Loading rows={8} />}
      {order && <Parts order={order} history={history.data} at={at} />}
    </Page>
  );
};

const Past = ({ at }: { readonly at: string }) => {
  const setAddress = useSetAddress();
  return (
    <Alert color="grape" role="status">
      <Group justify="space-between">
        {t.history.past(formatTime(at, locale))}
        <Button size="xs" variant="default" onClick={() => setAddress({})}>
          {t.history.backToNow}
        </Button>
      </Group>
    </Alert>
  );
};

interface PartsProps {
  readonly order: Order;
  readonly history: OrderHistoryPage | undefined;
  readonly at: string | undefined;
}

const Parts = ({ order, history, at }: PartsProps) => {
  const { environment } = useSession();
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack>
          <MoneyFacts order={order} links={at === undefined && <PayerLinks order={order} />} />
          <Items order={order} />
          <OrderPayments order={order} />
          <OrderDeliveries order={order} at={at} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack>
          {at === undefined && environment === 'sandbox' && <SandboxActions order={order} />}
          {history && <Timeline history={history} at={at} />}
          {history && <ShownAddresses entries={history.items} />}
          <Rates order={order} />
          <MoreFacts order={order} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
};

const PayerLinks = ({ order: { payment_url: url } }: { readonly order: Order }) =>
  url === undefined || !/^https?:/.test(url) ? null : (
    <>
      <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
        {t.orders.detail.payPage}
      </Anchor>
      <CopyButton value={url}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy}>
            {copied ? t.actions.copied : t.orders.detail.copyLink}
          </Button>
        )}
      </CopyButton>
    </>
  );
