// The rules by which a process trusts its clock. Times are milliseconds. An offset is how far a clock is ahead of the
// steady clock, which nobody sets: it stays the same while a clock runs on, and changes when a clock is set.

/** Clocks that are further apart disagree. */
export const LIMIT_MS = 60_000;
/** After a jump that nothing contradicts and nothing proves. */
const WAIT_WITHOUT_PROOF_MS = 60 * 60_000;
/** At a start, for the first block. */
const WAIT_FOR_CHAINS_MS = 2 * 60_000;
/** NTP makes a clock faster or slower by at most this part of the time. */
const MAX_SLEW = 0.1;
/** An operator reads the time from a watch. */
const CONFIRMED_WITHIN_MS = 2 * LIMIT_MS;

export type ClockName = 'postgres' | 'event_store' | 'chains';

/** The offset of another clock lies between these. */
export interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Reading extends Bounds {
  /** By the steady clock. */
  readonly atMs: number;
}

/** The statement of an operator about the clock. */
export interface Confirmation {
  readonly id: number;
  /** The offset of the right clock. */
  readonly offsetMs: number;
  /** Whether it is so recent that it also counts for a process that starts. */
  readonly isRecent: boolean;
}

export interface ClockState {
  /** When the clock was last trusted; null before. */
  readonly trusted: {
    readonly offsetMs: number;
    readonly atMs: number;
    /** The newest confirmation by then. */
    readonly confirmationId: number;
    /** How far other clocks were ahead when an operator confirmed this one. */
    readonly accepted: ReadonlyMap<ClockName, number>;
  } | null;
  /** Since when the clock runs on as it does now. */
  readonly since: { readonly offsetMs: number; readonly atMs: number };
  readonly readings: ReadonlyMap<ClockName, Reading>;
  /** Whether blocks of a chain can be expected. */
  readonly expectsChains: boolean;
  readonly confirmation: Confirmation | null;
}

/** The clock of the process at a moment of the steady clock. */
export interface Moment {
  readonly offsetMs: number;
  readonly atMs: number;
}

export const unknownClock = ({ offsetMs, atMs }: Moment): ClockState => ({
  trusted: null,
  since: { offsetMs, atMs },
  readings: new Map(),
  expectsChains: false,
  confirmation: null,
});

/** How far a clock is ahead of the one with this offset; 0 if both can be the same. */
export const aheadMs = ({ fromMs, toMs }: Bounds, offsetMs: number): number =>
  fromMs > offsetMs ? fromMs - offsetMs : toMs < offsetMs ? toMs - offsetMs : 0;

export interface Verdict {
  /** Why nothing may end by the clock; null while the clock is trusted. */
  readonly doubt: string | null;
  readonly state: ClockState;
}

/** Decides whether the clock is trusted at this moment, and remembers that. */
export const judge = (before: ClockState, now: Moment): Verdict => {
  const hasMoved = Math.abs(now.offsetMs - before.since.offsetMs) > LIMIT_MS;
  const state = { ...before, since: hasMoved ? now : { ...before.since, offsetMs: now.offsetMs } };
  if (isConfirmed(state, now)) return { doubt: null, state: trustedAt(state, now, acceptedAt(state, now)) };
  const doubt = doubtOf(state, now);
  return { doubt, state: doubt === null ? trustedAt(state, now) : state };
};

const jumpMs = ({ trusted }: ClockState, { offsetMs }: Moment): number => (trusted ? offsetMs - trusted.offsetMs : 0);

const hasJumped = (state: ClockState, now: Moment): boolean => Math.abs(jumpMs(state, now)) > LIMIT_MS;

/** The clock follows small steps as slowly as NTP makes them, so that many small steps add up to a jump. */
const trustedAt = (
  state: ClockState,
  now: Moment,
  accepted: ReadonlyMap<ClockName, number> = state.trusted?.accepted ?? new Map(),
): ClockState => {
  const { trusted, confirmation } = state;
  const slewMs = trusted && !hasJumped(state, now) ? (now.atMs - trusted.atMs) * MAX_SLEW : Infinity;
  const driftMs = jumpMs(state, now);
  const offsetMs = now.offsetMs - Math.sign(driftMs) * Math.max(0, Math.abs(driftMs) - slewMs);
  const confirmationId = Math.max(trusted?.confirmationId ?? 0, confirmation?.id ?? 0);
  return { ...state, trusted: { offsetMs, atMs: now.atMs, confirmationId, accepted } };
};

/** An operator's word counts once. */
const isConfirmed = ({ trusted, confirmation }: ClockState, { offsetMs }: Moment): boolean =>
  confirmation !== null &&
  (trusted ? confirmation.id > trusted.confirmationId : confirmation.isRecent) &&
  Math.abs(confirmation.offsetMs - offsetMs) <= CONFIRMED_WITHIN_MS;

const acceptedAt = ({ readings }: ClockState, { offsetMs }: Moment): ReadonlyMap<ClockName, number> =>
  new Map([...readings].map(([name, reading]) => [name, aheadMs(reading, offsetMs)]));

const doubtOf = (state: ClockState, now: Moment): string | null => {
  const { trusted, since, readings, expectsChains } = state;
  const jumped = hasJumped(state, now);
  // Readings from before a jump prove nothing about clocks that may have jumped together.
  const usable = [...readings].filter(([, { atMs }]) => !jumped || atMs >= since.atMs);
  const skews = usable.map(([name, reading]) => ({ name, ms: aheadMs(reading, now.offsetMs) }));
  const differing = skews.filter(
    ({ name, ms }) => Math.abs(ms - (trusted?.accepted.get(name) ?? 0)) > LIMIT_MS && Math.abs(ms) > LIMIT_MS,
  );
  // Nodes that stand still are behind too. They prove nothing about a clock that runs on.
  const against = differing.filter(({ name, ms }) => name !== 'chains' || ms > 0 || jumped || trusted === null);
  const agreeing = 1 + skews.length - differing.length;
  const difference = against.map(({ name, ms }) => `${textOf(ms)} ${ms > 0 ? 'behind' : 'ahead of'} ${TITLES[name]}`);
  const jump = jumped ? `jumped ${textOf(jumpMs(state, now))} ${jumpMs(state, now) > 0 ? 'ahead' : 'back'}` : null;
  const chainsDiffer = against.some(({ name }) => name === 'chains');
  if (chainsDiffer || against.length >= agreeing)
    return `the clock of this process ${[...(jump ? [jump] : []), `is ${difference.join(' and ')}`].join(', and ')}`;
  const waitedMs = now.atMs - since.atMs;
  const isCompared = usable.some(([name]) => name === 'postgres');
  const chainsAgree = skews.some(({ name }) => name === 'chains') && !differing.some(({ name }) => name === 'chains');
  if (jump !== null) {
    if (isCompared && (chainsAgree || waitedMs >= WAIT_WITHOUT_PROOF_MS)) return null;
    return `the clock of this process ${jump}, and no block of a chain proves the new time yet`;
  }
  if (trusted !== null) return null;
  if (!isCompared) return 'the clock of this process was not compared with that of PostgreSQL yet';
  if (expectsChains && !chainsAgree && waitedMs < WAIT_FOR_CHAINS_MS)
    return 'the clock of this process was not compared with the blocks of a chain yet';
  return null;
};

const TITLES: Readonly<Record<ClockName, string>> = {
  postgres: 'that of PostgreSQL',
  event_store: 'that of the event store',
  chains: 'the blocks of the chains',
};

const textOf = (ms: number): string => `${Math.round(Math.abs(ms) / 1_000)} s`;
