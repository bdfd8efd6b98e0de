/** Which teams, nodes and times of a fleet are shown. */
import type { FleetView } from '../data/fleet-shapes.ts'
import { spans } from './address.ts'
import { type Asked, names } from './fleet-address.ts'
import { visible } from './format.ts'

interface FiltersProps {
  readonly view: Asked
  readonly change: (more: Partial<Asked>) => void
  readonly choices: FleetView['choices']
}

export function Filters({ view, change, choices }: FiltersProps) {
  const choose = (name: 'node' | 'team', label: string, all: string, values: readonly string[]) => (
    <select aria-label={label} value={view[name]} onChange={(event) => change({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {visible(value)}
        </option>
      ))}
    </select>
  )
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {choose('team', 'Team', 'All teams', choices.teams)}
      {choose('node', 'Node', 'All nodes', choices.nodes)}
      <select aria-label="Time" value={view.span} onChange={(event) => change({ span: event.currentTarget.value })}>
        <option value="">All time</option>
        {Object.entries(spans).map(([span, { name }]) => (
          <option key={span} value={span}>
            {name}
          </option>
        ))}
      </select>
      {names.some((name) => view[name] !== '') && (
        <button type="button" onClick={() => change({ node: '', team: '', state: '', span: '', job: '' })}>
          Clear
        </button>
      )}
    </form>
  )
}
