import { AppError, unreachable } from '@cpg/contracts';
import { type Decider, fold } from '../decider.ts';
import { givenFor } from './given.ts';

interface Drawer {
  readonly coins: number;
}
type Command = { type: 'Put' | 'Take'; coins: number } | { type: 'Break' };
type Event = { type: 'Moved'; coins: number; places: { slot: number; note: string }[] };

const drawer: Decider<Drawer, Command, Event> = {
  initial: { coins: 0 },
  decide: (command, { coins }) => {
    switch (command.type) {
      case 'Put':
        return command.coins === 0 ? [] : [moved(command.coins)];
      case 'Take':
        if (command.coins > coins) throw new AppError('order_state_conflict', 'not that many');
        return [moved(-command.coins)];
      case 'Break':
        throw new TypeError('a bug');
      default:
        return unreachable(command);
    }
  },
  evolve: ({ coins }, event) => ({ coins: coins + event.coins }),
};
const moved = (coins: number): Event => ({
  type: 'Moved',
  coins,
  places: [
    { slot: 1, note: 'left' },
    { slot: 2, note: 'right' },
  ],
});

const given = givenFor(drawer);

test('folding is the events, one after the other', () => {
  expect(fold(drawer, drawer.initial, [moved(5), moved(-2)])).toEqual({ coins: 3 });
  expect(fold(drawer, drawer.initial, [])).toBe(drawer.initial);
});

test('what no type allows is a bug with the value in it', () => {
  expect(() => unreachable({ type: 'Burn' } as never)).toThrow('unreachable: {"type":"Burn"}');
});

test('the events that follow are compared whole', () => {
  given().when({ type: 'Put', coins: 3 }).then(moved(3));
  expect(() => given().when({ type: 'Put', coins: 3 }).then(moved(4))).toThrow();
  expect(() => given().when({ type: 'Put', coins: 3 }).then()).toThrow();
});

test('or only in the parts that are named', () => {
  given()
    .when({ type: 'Put', coins: 3 })
    .thenLike({ coins: 3, places: [{ slot: 1 }, { slot: 2 }] });
  expect(() => given().when({ type: 'Put', coins: 3 }).thenLike({ coins: 4 })).toThrow();
  expect(() => given().when({ type: 'Put', coins: 3 }).thenLike({ colour: 'red' })).toThrow();
});

test('neither an event nor an entry of a list goes unnamed', () => {
  expect(() => given().when({ type: 'Put', coins: 3 }).thenLike()).toThrow();
  expect(() => given().when({ type: 'Put', coins: 3 }).thenLike({ coins: 3 }, { coins: 3 })).toThrow();
  expect(() =>
    given()
      .when({ type: 'Put', coins: 3 })
      .thenLike({ places: [{ slot: 1 }] }),
  ).toThrow();
});

test('nothing follows', () => {
  given().when({ type: 'Put', coins: 0 }).thenNothing();
  expect(() => given().when({ type: 'Put', coins: 1 }).thenNothing()).toThrow();
});

test('the state after is the past and what followed', () => {
  given(moved(5))
    .when({ type: 'Take', coins: 2 })
    .thenState((state) => expect(state).toEqual({ coins: 3 }));
});

test('a refusal is one with that code; anything else is a failure', () => {
  given(moved(1)).when({ type: 'Take', coins: 2 }).thenRefused('order_state_conflict');
  expect(() => given(moved(1)).when({ type: 'Take', coins: 2 }).thenRefused('not_found')).toThrow('not that many');
  expect(() => given(moved(2)).when({ type: 'Take', coins: 2 }).thenRefused('not_found')).toThrow('not refused');
  expect(() => given().when({ type: 'Break' }).thenRefused('not_found')).toThrow(TypeError);
});
