/** @jest-environment jsdom */

import { FakeStream, useLocks } from '../../testing/jest-browser-page.ts';
import { type ServerEvent, shareStream } from './live.ts';

/** A tab of the page of an order. */
const openTab = (order: string) => {
  history.replaceState(null, '', `/pay/${order}`);
  const heard: ServerEvent[] = [];
  const tab = { refusals: 0, heard };
  const stream = shareStream({ onEvent: (event) => void heard.push(event), onRefused: () => void (tab.refusals += 1) });
  stream.open();
  return Object.assign(tab, stream);
};
/** Lets everything happen that waits for nothing. */
const settle = () => new Promise((resolve) => setTimeout(resolve));
const openStreams = () => FakeStream.opened.filter(({ readyState }) => readyState !== FakeStream.CLOSED);

beforeEach(() => {
  FakeStream.opened.length = 0;
  Object.assign(globalThis, { EventSource: FakeStream });
  useLocks();
});

test('the tabs of a page share one stream, and all hear what it tells', async () => {
  const tabs = Array.from({ length: 7 }, () => openTab('A'));
  await settle();
  expect(openStreams().map(({ url }) => url)).toEqual(['/pay/A/events']);
  openStreams()[0]!.tell('changed', 'second');
  openStreams()[0]!.tell('time', '5');
  const told = [
    { type: 'changed', data: 'second' },
    { type: 'time', data: '5' },
  ];
  expect(tabs.map(({ heard }) => heard)).toEqual(Array(7).fill(told));
});

test('a tab that opens later hears at once which version the stream told last', async () => {
  openTab('A');
  await settle();
  openStreams()[0]!.tell('changed', 'second');
  openStreams()[0]!.tell('time', '5');
  expect(openTab('A').heard).toEqual([{ type: 'changed', data: 'second' }]);
});

test('another tab opens the stream when the one that has it is closed or hidden', async () => {
  const [first, second, third] = [openTab('A'), openTab('A'), openTab('A')];
  await settle();
  second.close();
  first.close();
  await settle();
  expect(FakeStream.opened.map(({ readyState }) => readyState)).toEqual([FakeStream.CLOSED, 1]);
  openStreams()[0]!.tell('changed', 'second');
  expect([first, second, third].map(({ heard }) => heard.length)).toEqual([0, 0, 1]);
  second.open();
  await settle();
  expect(openStreams()).toHaveLength(1);
});

test('a browser has few streams for all of its orders; further pages are told to do without', async () => {
  const tabs = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map(openTab);
  await settle();
  expect(openStreams()).toHaveLength(3);
  expect(tabs.map(({ refusals }) => refusals)).toEqual([0, 0, 0, 1, 1, 1, 1]);
  tabs[1]!.close();
  await settle();
  tabs[5]!.open();
  await settle();
  expect(openStreams().map(({ url }) => url)).toEqual(['/pay/A/events', '/pay/C/events', '/pay/F/events']);
});

test('each tab tries for itself where the server refuses the stream', async () => {
  const tabs = [openTab('A'), openTab('A')];
  await settle();
  openStreams()[0]!.refuse();
  await settle();
  openStreams()[0]!.refuse();
  await settle();
  expect([openStreams().length, tabs.map(({ refusals }) => refusals)]).toEqual([0, [1, 1]]);
});

test('a browser without locks is told to do without a stream', () => {
  Reflect.deleteProperty(navigator, 'locks');
  const tabs = [openTab('A'), openTab('A')];
  expect([openStreams().length, tabs.map(({ refusals }) => refusals)]).toEqual([0, [1, 1]]);
});
