/**
 * Retention by month and erasure by user: the only ways in which a row of the record leaves or changes, and an admin's
 * alone. An erasure on a node is recorded here as a tombstone and erases nothing: otherwise a node could remove evidence.
 */
export const retentionSql = `
-- drops the months that ended more than \`keep\` months ago; returns how many were dropped
CREATE FUNCTION ona_fleet.retain(keep integer, actor text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  part record;
  dropped integer := 0;
  before text;
BEGIN
  IF keep < 1 THEN RAISE EXCEPTION 'keep at least one month'; END IF;
  before := to_char((now() AT TIME ZONE 'UTC') - make_interval(months => keep), 'YYYY_MM');
  FOR part IN
    SELECT c.relname FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = i.inhparent
    JOIN pg_namespace n ON n.oid = p.relnamespace
    WHERE n.nspname = 'ona_fleet' AND p.relname IN ('rows', 'links', 'calls') AND right(c.relname, 7) < before
    ORDER BY c.relname
  LOOP
    EXECUTE format('DROP TABLE ona_fleet.%I', part.relname);
    INSERT INTO ona_fleet.access_log(actor, role, action, target) VALUES (actor, 'admin', 'retain', part.relname);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
-- removes the content of everything that a user's machines sent; who, when, which tool and what was decided stay
CREATE FUNCTION ona_fleet.erase_person(who text, actor text, why text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  erased bigint;
BEGIN
  UPDATE ona_fleet.rows r SET content = '[]', state = 'erased'
    FROM ona_fleet.nodes n WHERE n.id = r.node_id AND n.person = who AND r.state <> 'erased';
  GET DIAGNOSTICS erased = ROW_COUNT;
  UPDATE ona_fleet.calls c SET target = '[erased]'
    FROM ona_fleet.nodes n WHERE n.id = c.node_id AND n.person = who;
  UPDATE ona_fleet.conversations c SET title = '[erased]', project_dir = '[erased]'
    FROM ona_fleet.nodes n WHERE n.id = c.node_id AND n.person = who;
  INSERT INTO ona_fleet.access_log(actor, role, action, target, detail)
    VALUES (actor, 'admin', 'erase', who, erased || ' rows: ' || why);
  RETURN erased;
END $$;`
