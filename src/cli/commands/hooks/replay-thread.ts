/** A thread of `ona hooks replay`: starts what judges, from code that an earlier start has compiled. */
import { enableCompileCache } from 'node:module'

enableCompileCache()
void import('./replay-judge.ts')
