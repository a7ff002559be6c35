import pytest

from engine.missions import load_mission
from labs.cockpit.levers import accepted_levers, setting
from labs.cockpit.session import visit
from labs.cockpit.stage import play, set_scene

PLAN = load_mission("08")
SEED = PLAN.act("audit").settings["seed"]


def test_a_visit_without_a_name_is_a_guests_with_the_plans_seed():
    found = visit(PLAN, {}, {})
    assert (found.student, found.seed, found.complaint) == ("guest", SEED, "")
    assert found.home == f"fleetlab:08:{PLAN.digest}:guest"


def test_the_address_wins_over_the_command_line():
    found = visit(PLAN, {"student": "ada"}, {"student": "ben", "seed": "9"})
    assert (found.student, found.seed) == ("ada", 9)


def test_another_seed_is_kept_apart_in_the_browser():
    assert visit(PLAN, {"seed": "9"}).home.endswith(":guest:seed-9")


def test_a_name_with_a_colon_cannot_reach_into_another_key():
    assert visit(PLAN, {"student": "a:b"}).student == "guest"
    assert ":a%40b.org" in visit(PLAN, {"student": "a@b.org"}).home


@pytest.mark.parametrize("bad", ["NaN", "-1", "1.5", "", "1e3", "10000000000", "eight", "0x8"])
def test_a_seed_that_is_no_whole_number_is_one_sentence_and_the_lab_opens(bad):
    found = visit(PLAN, {"seed": bad})
    assert found.seed == SEED
    assert found.complaint.startswith("seed: ") and found.complaint.count("accepted") == 1


@pytest.mark.parametrize("bad", ["", "x" * 65, "<script>", "a/b", "a\nb"])
def test_a_student_name_that_is_not_accepted_is_one_sentence(bad):
    found = visit(PLAN, {"student": bad})
    assert found.student == "guest" and found.complaint.startswith("student: ")


def test_levers_that_are_not_given_are_at_their_start():
    act = PLAN.act("audit")
    assert setting(PLAN, act, {"migrate": True}) == PLAN.start_values("audit") | {"migrate": True}
    assert setting(PLAN, act, {"interval": "18 min"}) == PLAN.start_values("audit")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"policy": "lottery"}, "lever policy"),
        ({"evict": "yes"}, "lever evict"),
        ({"evict": 1}, "lever evict"),
        ({"warp": True}, "no lever 'warp'"),
    ],
)
def test_a_lever_or_a_value_that_the_plan_does_not_have_is_named(values, said):
    with pytest.raises(ValueError if "no lever" not in said else LookupError, match=said):
        accepted_levers(PLAN, values)


def test_a_lever_value_from_elsewhere_is_told_and_the_start_is_shown():
    scene = set_scene(PLAN, visit(PLAN), "audit", {})
    stage = play(scene, {"policy": "lottery"})
    assert dict(stage.levers) == PLAN.start_values("audit")
    assert stage.complaint.startswith("lever policy: 'lottery' is not accepted")


def test_the_crisis_is_told_in_the_numbers_of_the_visits_own_seed():
    one, other = (set_scene(PLAN, visit(PLAN, {"seed": seed}), "audit", {}).act.crisis for seed in ("8", "9"))
    assert one != other and "{" not in one + other
