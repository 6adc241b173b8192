import type { Volume as VolumeReport } from '@cpg/sdk';
import { useState } from 'react';
import { writeSearch } from '../../lib/search-params.ts';
import { timeZone } from '../../lib/times.ts';
import { volumeByDay } from '../../lib/volume.ts';
import { useOnce } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { VolumeChart } from '../../ui/volume-chart.tsx';

const DAYS = 14;

const Volume = () => {
  const report = useOnce<VolumeReport>(`/v1/reports/volume${writeSearch({ timezone: timeZone() })}`);
  const [currency, setCurrency] = useState<string>();
  return (
    <Section title={t.home.volume} note={t.home.volumeOf(DAYS)}>
      <Loaded query={report}>
        {(data) => <VolumeChart volume={volumeByDay(data)} currency={currency} onCurrency={setCurrency} />}
      </Loaded>
    </Section>
  );
};

export default Volume;
