import { readPageAssets } from './assets.ts';
import { renderExample } from './warm-up.ts';

test('renders a page with a QR code before the first payer asks for one', () => {
  expect(renderExample(readPageAssets(Buffer.from('')))).toContain('class="qr"');
});
