import { AppError, CurrencyScaleRecorded, PaymentCurrency, type Scales, SCALES_STREAM } from '@cpg/contracts';
import { FatalStartError, wallClock } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import {
  appendOne,
  type CommandHandler,
  deletedStream,
  type DomainEvent,
  endOf,
  readStream,
} from '@cpg/event-sourcing';

/** The configured decimals of a currency are not those of its stored amounts. The message tells the operator what to
 *  do. */
class WrongScaleError extends FatalStartError {
  override readonly name = 'WrongScaleError';
}

/** A currency, and the decimals of amounts of it. */
export interface Scale {
  readonly currency: PaymentCurrency;
  readonly decimals: number;
}

/** Throws WrongScaleError if `recorded`, which stored amounts of a currency have, are not the decimals of the
 *  configuration. */
const requireSameScale = ({ currency, decimals: configured }: Scale, recorded: number): void => {
  if (configured === recorded) return;
  throw new WrongScaleError(
    currency === 'CAZ'
      ? `CAZ_DECIMALS is ${configured}, but the amounts of CAZ in this event store have ${recorded} decimals: set CAZ_DECIMALS=${recorded} for all services and admin commands. Stored amounts cannot be rescaled; other decimals need an empty event store and database`
      : `${currency} has ${configured} decimals in this version, but ${recorded} in this event store: use the version that wrote its events`,
  );
};

/** Checks the configured decimals of every currency that has stored amounts. Returns those currencies. Throws
 *  WrongScaleError. */
export const requireRecordedScales = async (
  client: EventStoreDBClient,
  configured: Scales,
): Promise<ReadonlySet<PaymentCurrency>> => {
  const { scales } = await readScales(client);
  for (const [currency, recorded] of scales) requireSameScale({ currency, decimals: configured[currency] }, recorded);
  return new Set(scales.keys());
};

/** Records the decimals of a currency before its first amount is stored. The first record counts: throws
 *  WrongScaleError if it has other decimals. Idempotent. */
export const recordScale = async (client: EventStoreDBClient, scale: Scale, actor: string): Promise<void> => {
  for (;;) {
    const { scales, end } = await readScales(client);
    const recorded = scales.get(scale.currency);
    if (recorded !== undefined) return requireSameScale(scale, recorded);
    const { currency, decimals } = scale;
    const event: CurrencyScaleRecorded = {
      type: 'CurrencyScaleRecorded',
      data: { currency, decimals, at: wallClock().toISOString() },
    };
    await appendOne(client, SCALES_STREAM, event, end, actor);
  }
};

/** Like `recordScale`, for a request. Throws `dependency_unavailable` while the configuration is wrong. */
export const ensureScale = (client: EventStoreDBClient, scale: Scale, actor: string): Promise<void> =>
  recordScale(client, scale, actor).catch((error: unknown) => {
    if (!(error instanceof WrongScaleError)) throw error;
    throw new AppError('dependency_unavailable', `${scale.currency} is not available: try again later`, {
      cause: error,
    });
  });

/** Lets a command store amounts of a currency only once their decimals are recorded, so that another configuration
 *  cannot give amounts of the currency other ones. `scaleOf` returns the scale of a command that stores the first
 *  amount of a stream. Throws `dependency_unavailable` while the configuration is wrong. */
export const withRecordedScales = <State, Command, E extends DomainEvent>(
  handler: CommandHandler<State, Command, E>,
  {
    client,
    actor,
    scaleOf,
  }: {
    readonly client: EventStoreDBClient;
    readonly actor: string;
    readonly scaleOf: (command: Command) => Scale | null;
  },
): CommandHandler<State, Command, E> => {
  const recorded = new Map<PaymentCurrency, number>();
  return {
    ...handler,
    handle: async (id, command, ...rest) => {
      const scale = scaleOf(command);
      if (scale && recorded.get(scale.currency) !== scale.decimals) {
        await ensureScale(client, scale, actor);
        recorded.set(scale.currency, scale.decimals);
      }
      return handler.handle(id, command, ...rest);
    },
  };
};

const readScales = async (client: EventStoreDBClient) => {
  const events = await readStream(client, SCALES_STREAM, CurrencyScaleRecorded);
  if (!events) throw new FatalStartError(deletedStream(SCALES_STREAM).message);
  const scales = new Map<PaymentCurrency, number>();
  for (const { event } of events) {
    const currency = PaymentCurrency.safeParse(event.data.currency);
    // A newer version may have recorded a currency that this one does not know.
    if (currency.success) scales.set(currency.data, event.data.decimals);
  }
  return { scales, end: endOf(SCALES_STREAM, events.at(-1) ?? null) };
};
