import {
  activeFilters,
  dayOf,
  endOfDay,
  listRequest,
  pageOfList,
  startOfDay,
  timeIn,
  withFilter,
  withRangeMoved,
} from './filters.ts';
import { readSearch, valuesOf, writeSearch } from './search-params.ts';

test('an address keeps every value of a filter', () => {
  const search = readSearch('?status=paid&status=expired&search=12.50+USDC');
  expect(search).toEqual({ status: ['paid', 'expired'], search: '12.50 USDC' });
  expect(writeSearch(search)).toBe('?status=paid&status=expired&search=12.50+USDC');
  expect(valuesOf(search, 'status')).toEqual(['paid', 'expired']);
  expect(valuesOf(search, 'currency')).toEqual([]);
});

test('asks the API for a page with the filters of the address, and with nothing else', () => {
  expect(listRequest('orders', { status: 'paid', limit: '50', color: 'red' })).toBe('/v1/orders?limit=50&status=paid');
  expect(listRequest('payments', {})).toBe('/v1/payments?limit=25');
});

test('asks for the deliveries of one webhook under its path', () =>
  expect(listRequest('deliveries', { webhook_id: 'whk_1', status: 'failed' })).toBe(
    '/v1/webhooks/whk_1/deliveries?limit=25&status=failed',
  ));

test('finds the page that shows a list of the overview', () => {
  expect(pageOfList('/v1/payments?due_back=true')).toEqual({ to: '/payments', search: { due_back: 'true' } });
  expect(pageOfList('/v1/orders?status=initialized&status=awaiting_payment')).toEqual({
    to: '/orders',
    search: { status: ['initialized', 'awaiting_payment'] },
  });
  expect(pageOfList('/v1/webhooks?limit=100')).toEqual({ to: '/webhooks', search: {} });
  expect(pageOfList('/v1/webhooks/whk_1/deliveries?status=failed')).toEqual({
    to: '/deliveries',
    search: { webhook_id: 'whk_1', status: 'failed' },
  });
  expect(pageOfList('/v1/requests?status=4xx')).toEqual({ to: '/requests', search: { status: '4xx' } });
  expect(pageOfList('/v1/something-new')).toBeUndefined();
});

test('another filter begins the list anew', () => {
  const search = { status: 'paid', cursor: 'abc', limit: '50' };
  expect(withFilter(search, { currency: 'USDC' })).toEqual({ status: 'paid', currency: 'USDC', limit: '50' });
  expect(withFilter(search, { status: undefined })).toEqual({ limit: '50' });
  expect(withFilter(search, { status: [] })).toEqual({ limit: '50' });
});

test('paging is no filter', () =>
  expect(activeFilters('orders', { cursor: 'abc', limit: '50', sort: 'asc' })).toEqual({}));

test('a day lasts from its first to its last millisecond', () => {
  const [from, to] = [startOfDay('2026-01-31')!, endOfDay('2026-01-31')!];
  expect(Date.parse(to) - Date.parse(from)).toBe(24 * 60 * 60 * 1000 - 1);
  expect([dayOf(from), dayOf(to)]).toEqual(['2026-01-31', '2026-01-31']);
});

test.each(['', 'soon', '2026-1-31', '2026-13-01'])('"%s" is no day', (text) =>
  expect(startOfDay(text)).toBeUndefined(),
);

test('a range of one time becomes that of another, and the list begins anew', () => {
  const search = { status: 'applied', from_date: '2026-01-01', to_date: '2026-01-31', cursor: 'abc' };
  const moved = withRangeMoved(search, 'created', 'applied');
  expect(moved).toEqual({ status: 'applied', applied_from: '2026-01-01', applied_to: '2026-01-31' });
  expect(withRangeMoved(moved, 'applied', 'created')).toEqual({ ...search, cursor: undefined });
  expect(timeIn(moved, ['created', 'applied'])).toBe('applied');
  expect(timeIn({ status: 'applied' }, ['created', 'applied'])).toBeUndefined();
});
