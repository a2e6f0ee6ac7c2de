"""Small word lists that the feature backend reads meaning from: function words, opposites, kinds, cues."""

from __future__ import annotations

import re
from functools import lru_cache


def word_list(words: str) -> list[str]:
    """Words in a text, in order; so that long lists stay readable."""
    return words.split()


STOPWORDS: frozenset[str] = frozenset(
    word_list(
        """a an the this that these those it its he she they them his her hers their theirs him we us our you
        your i me my mine who whom whose which what where when why how is are was were be been being am do
        does did done have has had having will would shall should can could may might must of in on at by
        for with from to into onto upon about as than then and or but if so such also too very just there
        here up down out over under off again further more most some any each other own same both all
        between through during before after above below while because until against s t re ve ll d m one
        ones"""
    )
)

#: Words that turn a statement round.
NEGATIONS: frozenset[str] = frozenset(
    word_list(
        """not no never none nobody nothing neither nor nowhere without cannot cant dont doesnt didnt isnt
        arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt hardly barely scarcely fail
        fails failed failing refuse refuses refused deny denies denied forgot forget unable lack lacks
        lacked lacking absent cancelled canceled"""
    )
)

#: What follows one of these, to the end of the clause, is what the sentence denies.
DENIED_NEXT = re.compile(
    r"\b(?:contrary\s+to|rather\s+than|instead\s+of|as\s+opposed\s+to|in\s+place\s+of|and\s+not|but\s+not|"
    r"(?<=[,;]\s)not|(?<=[,;][\"”’]\s)not|"
    r"(?:is|was|are|were)\s+not|(?:isn|wasn|aren|weren)['’]t|not\s+(?=the\b|a\b|an\b|in\b|by\b|on\b|at\b|\d)|"
    r"dispel(?:s|led|ling)?|debunk(?:s|ed|ing)?|refut(?:e|es|ed|ing)|disprov(?:e|es|ed|ing)|"
    r"no\s+longer|(?:previously|formerly)\s+(?:thought|believed|held|assumed|suggested|reported|estimated)|"
    r"(?:commonly|widely|long|popularly)\s+(?:thought|believed|held|assumed)|"
    r"(?:long-held|common|popular|widespread|mistaken)\s+(?:belief|assumption|view|notion|claim)s?\s+that)\b",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(r"[.;:!?,\n]|\s[-–—]\s|\b(?:but|because|while|however)\b", re.IGNORECASE)

_OPPOSITES = """
hot cold; warm cool; big small; large small; large little; tall short; long short; high low;
higher lower; old new; old young; fast slow; rich poor; strong weak; heavy light; dark light;
dark bright; hard soft; hard easy; early late; earlier later; early recent; first last; open closed;
open close; full empty; clean dirty; wet dry; alive dead; live die; born die; birth death; male female;
man woman; men women; boy girl; boys girls; father mother; son daughter; brother sister; husband wife;
king queen; actor actress; win lose; winner loser; victory defeat; success failure; succeed fail;
succeeded failed; increase decrease; increases decreases; rise fall; rises falls; rose fell; grow shrink;
gain lose; more less; more fewer; most least; many few; much little; above below; over under; up down;
inside outside; indoors outdoors; inner outer; before after; begin end; start end; start finish;
start stop; begin stop; beginning end; accept reject; accepted rejected; allow forbid; allow prohibit;
allowed banned; legal illegal; support oppose; supported opposed; agree disagree; love hate;
like dislike; friend enemy; buy sell; bought sold; borrow lend; give take; push pull; enter leave;
arrive depart; arrive leave; come go; import export; north south; east west; northern southern;
eastern western; left right; top bottom; front back; front behind; good bad; better worse; best worst;
positive negative; true false; right wrong; correct incorrect; safe dangerous; healthy sick; happy sad;
happy angry; laugh cry; smile frown; awake asleep; sleep awake; sit stand; sitting standing; sit walk;
sit run; stand lie; walk run; awake sleeping; always never; everyone nobody; everybody nobody; all none;
every no; all some; everything nothing; public private; domestic foreign; national international;
urban rural; ancient modern; major minor; senior junior; maximum minimum; majority minority;
majority few; single married; single multiple; alone together; alone crowd; empty crowded; empty busy;
quiet loud; silent loud; quiet noisy; day night; morning evening; morning night; summer winter; sun rain;
sunny rainy; land sea; offensive defensive; offense defense; attack defend; war peace; create destroy;
build destroy; build demolish; appear disappear; include exclude; included excluded; expand contract;
approve reject; approved rejected; guilty innocent; hired fired; include omit; remember forget;
famous unknown; common rare; visible invisible; thick thin; wide narrow; deep shallow; smooth rough;
sharp dull; cheap expensive; amateur professional; fiction nonfiction; democrat republican;
liberal conservative; hero villain; teacher student; doctor patient; adult child; adults children;
cat dog; cats dogs; hate enjoy; dislike enjoy; present absent; permanent temporary; direct indirect;
active passive; voluntary mandatory; optional required; optional mandatory; partly fully;
partially completely; rarely often; seldom often; rarely always; only also; exclusively also;
released unreleased
"""

_KINDS = """
colour: red blue green yellow orange purple violet pink brown black white grey gray golden silver beige
colour: tan
continent: africa asia europe america australia antarctica
season: spring summer autumn winter
month: january february march april may june july august september october november december
weekday: monday tuesday wednesday thursday friday saturday sunday
direction: north south east west northern southern eastern western northeast northwest southeast southwest
people: man woman boy girl baby lady guy gentleman men women boys girls
kin: father mother son daughter brother sister uncle aunt cousin nephew niece grandfather
kin: grandmother wife husband
animal: dog cat horse cow sheep pig bird fish elephant lion tiger bear monkey goat duck chicken rabbit
animal: deer snake
vehicle: car truck bus bike bicycle motorcycle train boat ship plane airplane helicopter van taxi
vehicle: tractor scooter
instrument: guitar piano drum violin trumpet flute saxophone cello banjo harmonica accordion trombone
instrument: keyboard
sport: football soccer baseball basketball tennis hockey golf rugby cricket volleyball swimming boxing
sport: wrestling
surface: beach park street road field forest mountain lake river ocean pool desert snow grass sand ice
building: church school hospital store shop restaurant house museum library stadium hotel office factory
building: kitchen
posture: sit stand lie walk run jump sleep swim climb kneel crawl dance ride drive
clothing: shirt jacket coat dress hat pants jeans shorts skirt sweater suit shoes boots scarf gloves cap
meal: breakfast lunch dinner supper
drink: water coffee tea beer wine juice milk soda whiskey
food: pizza bread cake meat rice soup salad sandwich fruit apple banana burger pasta cheese egg
food: cookie
job: doctor nurse teacher lawyer engineer farmer soldier policeman chef waiter musician singer actor
job: author writer
role: director producer novelist poet painter politician president minister governor senator mayor
role: king queen
genre: comedy drama horror thriller western romance documentary musical animation fantasy
nation: american british english french german italian spanish chinese japanese indian russian canadian
nation: mexican
nation: australian irish scottish dutch swedish polish greek turkish brazilian korean egyptian
nation: norwegian danish
country: france germany italy spain china japan india russia canada mexico britain england ireland
country: scotland
country: sweden poland greece turkey brazil korea egypt norway denmark portugal austria switzerland
country: belgium argentina
planet: mercury venus earth mars jupiter saturn uranus neptune pluto
material: wood metal glass plastic paper stone gold silver iron copper steel leather cotton wool silk
material: bronze
shape: circle square triangle round oval rectangular
quantifier: all some none most few many every several both
medium: film movie book novel album song series show play game poem opera magazine newspaper
organ: heart liver lung kidney brain stomach skin spleen pancreas intestine
"""

_IRREGULAR = {
    word: stem
    for stem, words in {
        "be": "is are was were been",
        "win": "won",
        "write": "wrote written",
        "sing": "sang sung",
        "begin": "began begun",
        "die": "died dying death dead",
        "make": "made",
        "become": "became",
        "give": "gave given",
        "take": "took taken",
        "lead": "led",
        "hold": "held",
        "leave": "left",
        "lose": "lost",
        "build": "built",
        "buy": "bought",
        "sell": "sold",
        "say": "said",
        "tell": "told",
        "find": "found",
        "grow": "grew grown",
        "know": "knew known",
        "fall": "fell fallen",
        "rise": "rose risen",
        "run": "ran running",
        "sit": "sat sitting",
        "stand": "stood",
        "swim": "swam swimming",
        "teach": "taught",
        "man": "men",
        "woman": "women",
        "child": "children",
        "person": "people persons",
        "film": "movie movies films",
        "show": "shown",
        "see": "saw seen",
        "go": "went gone",
        "get": "got gotten",
        "come": "came",
        "speak": "spoke spoken",
        "play": "played plays playing",
        "direct": "director directed",
        "produce": "producer produced production",
        "release": "released releasing",
        "act": "actor acted acting actress",
        "found": "founder founded",
    }.items()
    for word in words.split()
}

_ENDINGS = (
    ("sses", "ss"), ("ies", "y"), ("ied", "y"), ("ying", "y"), ("ations", "ate"), ("ation", "ate"),
    ("ings", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("ily", "y"), ("ly", ""), ("ers", ""), ("er", ""),
    ("es", ""), ("s", ""), ("e", ""),
)  # fmt: skip


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Reduce a lower-case word to a crude stem, so that inflected forms of one word meet.

    >>> stem("released") == stem("releases")
    True
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            base = word[: len(word) - len(ending)] + instead
            if not instead and ending in ("ing", "ings", "ed", "er", "ers") and base[-1] == base[-2]:
                base = base[:-1]
            return base[:-1] if len(base) > 3 and base.endswith("e") else base
    return word


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.replace("\n", " ").split(";"):
        left, right = (stem(word) for word in pair.split())
        if left == right:
            continue  # "actor" and "actress" have one stem
        found.setdefault(left, set()).add(right)
        found.setdefault(right, set()).add(left)
    return {word: frozenset(words) for word, words in found.items()}


def _kinds() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _KINDS.strip().splitlines():
        kind, words = line.split(":")
        for word in words.split():
            found.setdefault(stem(word), kind)
    return found


OPPOSITES: dict[str, frozenset[str]] = _opposites()
KINDS: dict[str, str] = _kinds()
NEGATING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti")
