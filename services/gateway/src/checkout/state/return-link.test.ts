import { returnLink } from './checkout.ts';

const order = { id: 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', status: 'paid' } as const;
const ADDED = `order_id=${order.id}&status=paid`;

test.each([
  ['https://shop.example', `https://shop.example/?${ADDED}`],
  ['https://shop.example/thanks?', `https://shop.example/thanks?${ADDED}`],
  ['https://shop.example/thanks?table=B7&flag', `https://shop.example/thanks?table=B7&flag&${ADDED}`],
  ['https://shop.example/?note=a%20b&sig=%2B%3D', `https://shop.example/?note=a%20b&sig=%2B%3D&${ADDED}`],
  ['https://shop.example/?a&&b=[1]&', `https://shop.example/?a&&b=[1]&&${ADDED}`],
  ['https://bücher.example/danke?x=ü', `https://xn--bcher-kva.example/danke?x=%C3%BC&${ADDED}`],
])('adds the order and its status to %s', (url, link) => expect(returnLink(url, order)).toBe(link));

test.each([
  ['https://shop.example/?order_id=1&status=&order=2', 'order_id=1&status=&order=2', 'order_id=1&status='],
  ['https://shop.example/?%73tatus=free', '%73tatus=free', '%73tatus=free'],
])('overwrites no parameter of %s, whether the shop reads the first or the last one', (url, query, again) =>
  expect(returnLink(url, order)).toBe(`https://shop.example/?${query}&${ADDED}&${again}`),
);

test.each(['javascript:alert(1)', 'data:text/html,hello', '/thanks', 'shop'])('makes no link of %s', (url) =>
  expect(returnLink(url, order)).toBeUndefined(),
);
