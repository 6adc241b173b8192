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
  expect(faultsIn(UpdateWebhookDto, {})).toEqual([': must have events, is_enabled, or both']);
  expect(UpdateWebhookDto.safeParse({ is_enabled: false }).success).toBe(true);
});

test('an update of a webhook cannot change its URL', () => {
  expect(UpdateWebhookDto.safeParse({ url: 'https://elsewhere.test', is_enabled: true }).success).toBe(false);
});
