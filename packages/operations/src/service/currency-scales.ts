import { AppError, CurrencyScaleRecorded, decimalsOf, PaymentCurrency, SCALES_STREAM } from '@cpg/contracts';
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

/** Throws WrongScaleError if `decimals`, which stored amounts of a currency have, are not those of the
 *  configuration. */
const requireConfiguredScale = (currency: PaymentCurrency, decimals: number): void => {
  const configured = decimalsOf(currency);
  if (configured === decimals) return;
  throw new WrongScaleError(
    currency === 'CAZ'
      ? `CAZ_DECIMALS is ${configured}, but the amounts of CAZ in this event store have ${decimals} decimals: set CAZ_DECIMALS=${decimals} for all services and admin commands. Stored amounts cannot be rescaled; other decimals need an empty event store and database`
      : `${currency} has ${configured} decimals in this version, but ${decimals} in this event store: use the version that wrote its events`,
  );
};

/** Checks the configured decimals of every currency that has stored amounts. Returns those currencies. Throws
 *  WrongScaleError. */
export const requireRecordedScales = async (client: EventStoreDBClient): Promise<ReadonlySet<PaymentCurrency>> => {
  const { scales } = await readScales(client);
  for (const [currency, decimals] of scales) requireConfiguredScale(currency, decimals);
  return new Set(scales.keys());
};

/** Records the configured decimals of a currency before its first amount is stored. The first record counts: throws
 *  WrongScaleError if it has other decimals. Idempotent. */
export const recordScale = async (
  client: EventStoreDBClient,
  currency: PaymentCurrency,
  actor: string,
): Promise<void> => {
  for (;;) {
    const { scales, end } = await readScales(client);
    const recorded = scales.get(currency);
    if (recorded !== undefined) return requireConfiguredScale(currency, recorded);
    const event: CurrencyScaleRecorded = {
      type: 'CurrencyScaleRecorded',
      data: { currency, decimals: decimalsOf(currency), at: wallClock().toISOString() },
    };
    await appendOne(client, SCALES_STREAM, event, end, actor);
  }
};

/** Lets a command store amounts of a currency only once the decimals of the currency are recorded, so that another
 *  configuration cannot give them another meaning. `currencyOf` returns the currency of a command that stores the first
 *  amount of a stream. Throws `dependency_unavailable` while the configuration is wrong. */
export const withRecordedScales = <State, Command, E extends DomainEvent>(
  handler: CommandHandler<State, Command, E>,
  {
    client,
    actor,
    currencyOf,
  }: {
    readonly client: EventStoreDBClient;
    readonly actor: string;
    readonly currencyOf: (command: Command) => PaymentCurrency | null;
  },
): CommandHandler<State, Command, E> => {
  const recorded = new Set<PaymentCurrency>();
  return {
    ...handler,
    handle: async (id, command, ...rest) => {
      const currency = currencyOf(command);
      if (currency && !recorded.has(currency)) {
        await recordScale(client, currency, actor).catch(refuseWrongScale(currency));
        recorded.add(currency);
      }
      return handler.handle(id, command, ...rest);
    },
  };
};

const refuseWrongScale = (currency: PaymentCurrency) => (error: unknown) => {
  if (!(error instanceof WrongScaleError)) throw error;
  throw new AppError('dependency_unavailable', `${currency} is not available: try again later`, { cause: error });
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
