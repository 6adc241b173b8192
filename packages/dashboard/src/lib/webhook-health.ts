import type { WebhookHealth } from '@cpg/sdk';

type HealthDay = WebhookHealth['days'][number];

/** In the order in which a chart stacks them. */
export const HEALTH_STATUSES = ['delivered', 'pending', 'failed'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export interface Part {
  readonly status: HealthStatus;
  readonly count: number;
  readonly list: string;
  /** How many deliveries of the day are below it. */
  readonly below: number;
}

/** The deliveries of a day by status, one upon another. A status without any is left out. */
export const partsOf = (day: HealthDay): Part[] => {
  let below = 0;
  return HEALTH_STATUSES.map((status) => {
    const part = { status, ...day[status], below };
    below += part.count;
    return part;
  }).filter(({ count }) => count > 0);
};

export const totalOf = (days: readonly HealthDay[], status: HealthStatus): number =>
  days.reduce((sum, day) => sum + day[status].count, 0);

/** The number of deliveries on the day with the most. */
export const mostOf = (days: readonly HealthDay[]): number =>
  Math.max(0, ...days.map((day) => HEALTH_STATUSES.reduce((sum, status) => sum + day[status].count, 0)));
