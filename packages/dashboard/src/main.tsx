import './mantine.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { setNonce } from 'get-nonce';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isTemporary, retryAfterMs } from './api.ts';
import { createDashboardRouter } from './router.tsx';
import { loadTexts } from './texts/index.ts';
import { resolveColors, theme } from './theme.ts';

const MAX_RETRIES = 2;

/** Mantine writes style sheets for its colors and for widths. The policy of the page allows those with its nonce. */
const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Dialogs stop the page behind them from scrolling, by a style sheet of another library.
setNonce(nonce);

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A wait that the gateway asks for is shown instead.
      retry: (count, error) => count < MAX_RETRIES && isTemporary(error) && retryAfterMs(error) === 0,
      // A lost network is said, and not waited for in silence.
      networkMode: 'always',
    },
  },
});
const router = createDashboardRouter();

await loadTexts();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveColors}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
