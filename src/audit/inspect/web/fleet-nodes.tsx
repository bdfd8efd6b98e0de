/** The nodes of a fleet, each with its policy, drift and proof. */
import type { FleetNode } from '../data/fleet-shapes.ts'
import { counted, short, visible } from './format.ts'
import { Panel, Table } from './panel.tsx'
import { Time } from './tables.tsx'

export function Nodes({
  nodes,
  count,
  onChoose,
}: {
  nodes: readonly FleetNode[]
  count: number
  onChoose: (node: string) => void
}) {
  const title =
    count > nodes.length ? `Nodes: the first ${nodes.length} of ${counted(count, 'node')}` : counted(count, 'node')
  return (
    <Panel title={title}>
      <Table
        head={[
          'Node',
          'User',
          'Team',
          'Ring',
          '#Rows',
          'Policy',
          'Bundle',
          'Drift',
          '#Hooks fired',
          'Proof',
          'Last seen',
        ]}
      >
        {nodes.map((node) => (
          <tr key={node.node}>
            <th scope="row">
              <button type="button" class="plain" onClick={() => onChoose(node.node)}>
                {visible(node.node)}
              </button>{' '}
              <a class="link" href={`/?node=${encodeURIComponent(node.node)}`}>
                record
              </a>
              {node.faults > 0 && <div class="bad-ink">{counted(node.faults, 'fault')}</div>}
            </th>
            <td>{visible(node.person)}</td>
            <td>{visible(node.team)}</td>
            <td>{node.ring}</td>
            <td class="num">{short(node.rows)}</td>
            <td class={node.ok ? '' : 'bad-ink'} title={visible(node.detail)}>
              {visible(node.state)} {node.version ?? '–'}
              {node.version !== node.wantedVersion && ` (should be ${node.wantedVersion ?? 'none'})`}
            </td>
            <td>
              <code title={node.digest ?? ''}>{node.digest?.slice(0, 12) ?? '–'}</code>
            </td>
            <td class={node.drift.length > 0 ? 'bad-ink' : ''}>{node.drift.map(visible).join(', ') || '–'}</td>
            <td class="num">{short(node.hooks)}</td>
            <td>{visible(node.proof) || '–'}</td>
            <td>{node.lastSeen === null ? 'never' : <Time utc={node.lastSeen} />}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}
