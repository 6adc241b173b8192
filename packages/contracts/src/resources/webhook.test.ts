import { faultsIn } from '../testing/jest-faults.ts';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.ts';

test('a new webhook names at least one event type, each once', () => {
  const url = 'https://shop.test/hooks';
  expect(CreateWebhookDto.safeParse({ url, events: ['order:paid', 'order:created'] }).success).toBe(true);
  for (const events of [[], ['order:paid', 'order:paid'], ['order:eaten']]) {
    expect(CreateWebhookDto.safeParse({ url, events }).success).toBe(false);
  }
});

test('an update of a webhook must change something', () => {
  expect(faultsIn(UpdateWebhookDto, {})).toEqual([': must have events, label, filter or is_enabled']);
  expect(UpdateWebhookDto.safeParse({ is_enabled: false }).success).toBe(true);
});

test('an update of a webhook cannot change its URL', () => {
  expect(UpdateWebhookDto.safeParse({ url: 'https://elsewhere.test', is_enabled: true }).success).toBe(false);
});

test.each([
  [{ shop: 'b2c' }, []],
  [{}, ['filter: must have exactly one key of metadata']],
  [{ shop: 'b2c', table: '7' }, ['filter: must have exactly one key of metadata']],
])('a filter has exactly one key: %j', (filter, faults) => {
  expect(faultsIn(UpdateWebhookDto, { filter })).toEqual(faults);
});

test('null removes the label and the filter, which a new webhook leaves out', () => {
  expect(UpdateWebhookDto.safeParse({ label: null, filter: null }).success).toBe(true);
  const created = { url: 'https://shop.test/hooks', events: ['order:paid'] };
  for (const none of [
    { label: null },
    { filter: null },
    { label: '' },
    { filter: { shop: 7 } },
    { filter: { '': '7' } },
  ])
    expect(CreateWebhookDto.safeParse({ ...created, ...none }).success).toBe(false);
});
