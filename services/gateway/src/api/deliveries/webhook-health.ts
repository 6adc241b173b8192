import { type DeliveryStatus, EXAMPLE_IDS, WebhookId, withExample } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { z } from 'zod';
import { pathId } from '../ids.ts';
import { listLink } from '../lists/list-link.ts';
import { CountedList } from '../overview/overview-schemas.ts';

const DAYS = 30;

export const WebhookHealthDay = z.object({
  day: z.iso.date().describe('The day in UTC.'),
  delivered: CountedList.describe('Deliveries that the endpoint took.'),
  failed: CountedList.describe('Deliveries that failed for good.'),
  pending: CountedList.describe('Deliveries that wait for an attempt.'),
});

const exampleOf = (status: DeliveryStatus, count: number) => ({
  count,
  list: `/v1/webhooks/${EXAMPLE_IDS.webhook}/deliveries?status=${status}&from_date=2026-01-31T00%3A00%3A00.000Z&to_date=2026-01-31T23%3A59%3A59.999Z`,
});

export const WebhookHealth = withExample(
  z.object({
    webhook_id: WebhookId.describe('The webhook.'),
    days: z.array(WebhookHealthDay).describe(`The last ${DAYS} days, oldest first. Today is the last one.`),
  }),
  {
    webhook_id: EXAMPLE_IDS.webhook,
    days: [
      {
        day: '2026-01-31',
        delivered: exampleOf('delivered', 41),
        failed: exampleOf('failed', 1),
        pending: exampleOf('pending', 0),
      },
    ],
  },
);
export type WebhookHealth = z.infer<typeof WebhookHealth>;

export const getWebhookHealth = {
  operationId: 'getWebhookHealth',
  summary: 'Read the health of a webhook by day',
  description: `Counts the deliveries of a webhook by their status now, for each of the last ${DAYS} days on which they were created. Deliveries that the operator no longer keeps are not counted.`,
  tags: ['Webhooks'],
  params: pathId('webhook'),
  response: { 200: WebhookHealth },
};

const DAY_MS = 24 * 3_600_000;
const DAY_MINUTES = 24 * 60;

export const readWebhookHealth = async (db: Queryable, webhookId: string, at: Date): Promise<WebhookHealth> => {
  const today = Math.floor(at.getTime() / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, index) => today - DAYS + 1 + index);
  const { rows } = await db.query<{ day: number; status: string; n: number }>(
    `select (start / ${DAY_MINUTES})::int as day, status, sum(n)::int as n from webhooks.api_delivery_counts
      where webhook_id = $1 and start >= $2 group by 1, 2`,
    [webhookId, days[0]! * DAY_MINUTES],
  );
  const counts = new Map(rows.map(({ day, status, n }) => [`${day} ${status}`, n]));
  const counted = (day: number, status: DeliveryStatus) => ({
    count: counts.get(`${day} ${status}`) ?? 0,
    list: listLink(`/v1/webhooks/${webhookId}/deliveries`, {
      status,
      // Lists include both ends.
      ...{ from_date: new Date(day * DAY_MS), to_date: new Date((day + 1) * DAY_MS - 1) },
    }),
  });
  return {
    webhook_id: webhookId,
    days: days.map((day) => ({
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      delivered: counted(day, 'delivered'),
      failed: counted(day, 'failed'),
      pending: counted(day, 'pending'),
    })),
  };
};
