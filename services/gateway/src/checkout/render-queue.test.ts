import { createRenderQueue } from './checkout-routes.ts';

test('other work runs between two callers, who come in order', async () => {
  const renderSlot = createRenderQueue();
  const seen: string[] = [];
  const other = () => {
    seen.push('other');
    if (seen.length < 20) setImmediate(other);
  };
  setImmediate(other);
  await Promise.all(['a', 'b', 'c'].map((caller) => renderSlot().then(() => seen.push(caller))));
  const order = seen.join(' ');
  expect(order).toMatch(/a( other)+ b( other)+ c/);
});
