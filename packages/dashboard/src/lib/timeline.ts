/** An entry of a history, as far as its words need it. */
export interface Entry {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly at: string;
  readonly recorded_at: string;
  readonly actor: string;
  readonly data: object;
}

/** What a sentence about an entry can name. All of it is text, to be shown as text. */
export interface Facts {
  readonly amount?: string | undefined;
  readonly surplus?: string | undefined;
  readonly shortfall?: string | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  readonly reason?: string | undefined;
  readonly until?: string | undefined;
  readonly minutes?: number | undefined;
  readonly confirmations?: number | undefined;
  readonly isConfirmed?: boolean | undefined;
}

export interface Moment extends Entry {
  readonly facts: Facts;
}

/** What payments do is told by the order too, under these names. */
const TOLD_BY_ORDER: Readonly<Record<string, string>> = {
  PaymentReceived: 'OrderPaymentReceived',
  PaymentConfirmed: 'OrderPaymentConfirmed',
  PaymentBlockChanged: 'OrderPaymentBlockChanged',
  PaymentApplied: 'OrderPaymentsApplied',
  PaymentOrphaned: 'OrderPaymentsOrphaned',
  PaymentFailed: 'OrderPaymentFailed',
  PaymentReinstated: 'OrderPaymentReinstated',
  PaymentRefunded: 'OrderPaymentRefunded',
};

/** The entries with their facts, oldest first. `brief` leaves out what an entry of the order says too. */
export const timeline = (entries: readonly Entry[], { brief }: { readonly brief: boolean }): Moment[] => {
  const money = paymentsOf(entries);
  const currency = entries.map(({ data }) => textOf(data, 'currency')).find(Boolean);
  const types = new Set(entries.map(({ type }) => type));
  return entries
    .filter(({ type }) => !brief || !types.has(TOLD_BY_ORDER[type] ?? ''))
    .map((entry) => ({ ...entry, actor: causeOf(entry, entries), facts: factsOf(entry, money, currency) }));
};

/** Who did it. The order records what payments told it as done by payments, which know who it was. */
const causeOf = (entry: Entry, entries: readonly Entry[]): string => {
  const told = entries.filter(
    ({ type, recorded_at }) => TOLD_BY_ORDER[type] === entry.type && recorded_at <= entry.recorded_at,
  );
  return told.findLast((each) => paymentIdOf(each) === paymentIdOf(entry))?.actor ?? entry.actor;
};

type Money = ReadonlyMap<string, Facts>;

const paymentsOf = (entries: readonly Entry[]): Money => {
  const money = new Map<string, Facts>();
  for (const { data } of entries) {
    const payment = 'payment' in data && isObject(data.payment) ? data.payment : data;
    const id = textOf(payment, 'id') ?? textOf(payment, 'payment_id');
    const amount = textOf(payment, 'paid_amount');
    if (id !== undefined && amount !== undefined) money.set(id, { amount, currency: textOf(payment, 'currency') });
  }
  return money;
};

const paymentOf = ({ data }: Entry): object | undefined =>
  'payment' in data && isObject(data.payment) ? data.payment : undefined;

const allocationOf = ({ data }: Entry): object | undefined =>
  'allocations' in data && Array.isArray(data.allocations) ? (data.allocations as object[])[0] : undefined;

/** The payment that an entry is about. */
const paymentIdOf = (entry: Entry): string | undefined =>
  textOf(paymentOf(entry), 'id') ??
  textOf(entry.data, 'payment_id') ??
  textOf(allocationOf(entry), 'payment_id') ??
  firstOf(entry.data, 'payment_ids') ??
  (entry.stream.startsWith('payment-') ? entry.stream.slice('payment-'.length) : undefined);

const factsOf = (entry: Entry, money: Money, orderCurrency: string | undefined): Facts => {
  const { data } = entry;
  const [payment, allocation, id] = [paymentOf(entry), allocationOf(entry), paymentIdOf(entry)];
  const paid = id === undefined ? undefined : money.get(id);
  return {
    amount:
      textOf(data, 'amount') ??
      textOf(data, 'refunded_amount') ??
      textOf(allocation, 'applied_amount') ??
      textOf(data, 'applied_amount') ??
      textOf(data, 'total_amount') ??
      paid?.amount,
    surplus: textOf(allocation, 'unapplied_amount') ?? textOf(data, 'unapplied_amount'),
    shortfall: textOf(data, 'shortfall_amount'),
    currency: textOf(data, 'currency') ?? paid?.currency ?? orderCurrency,
    network: textOf(data, 'network'),
    reason: textOf(data, 'reason') ?? textOf(data, 'orphan_reason') ?? textOf(data, 'failure_reason'),
    until: textOf(data, 'expiration_date') ?? textOf(data, 'claim_expires_at'),
    minutes: numberOf(data, 'minutes'),
    confirmations: numberOf(data, 'confirmations') ?? numberOf(payment, 'confirmations'),
    isConfirmed: 'confirmed' in data ? data.confirmed === true : undefined,
  };
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const valueIn = (data: object | undefined, name: string): unknown =>
  (data as Record<string, unknown> | undefined)?.[name];

const textOf = (data: object | undefined, name: string): string | undefined => {
  const value = valueIn(data, name);
  return typeof value === 'string' ? value : undefined;
};

const numberOf = (data: object | undefined, name: string): number | undefined => {
  const value = valueIn(data, name);
  return typeof value === 'number' ? value : undefined;
};

const firstOf = (data: object, name: string): string | undefined => {
  const value = valueIn(data, name);
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined;
};

/** The instants at which an order was recorded, oldest first: an order can be shown as of each. */
export const instantsOf = (entries: readonly Entry[]): string[] =>
  [...new Set(entries.map(({ recorded_at }) => recorded_at))].sort();

/** Who caused an entry: a kind, and a name of that kind. */
export const actorOf = (actor: string): { readonly kind: string; readonly name: string } => {
  const colon = actor.indexOf(':');
  return colon < 0 ? { kind: actor, name: '' } : { kind: actor.slice(0, colon), name: actor.slice(colon + 1) };
};

export interface ShownAddress {
  readonly address: string;
  readonly network: string;
  readonly since: string;
}

/** Every address that the order ever showed, oldest first. */
export const addressesOf = (entries: readonly Entry[]): ShownAddress[] => {
  const shown = new Map<string, ShownAddress>();
  for (const { data, at } of entries) {
    const instructions = valueIn(data, 'deposit_instructions');
    for (const each of Array.isArray(instructions) ? (instructions as object[]) : []) {
      const [address, network = ''] = [textOf(each, 'address'), textOf(each, 'network')];
      const key = `${network} ${address}`;
      if (address !== undefined && !shown.has(key)) shown.set(key, { address, network, since: at });
    }
  }
  return [...shown.values()];
};
