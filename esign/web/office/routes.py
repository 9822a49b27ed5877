"""The table of all pages of the office: who may open each, and what each form needs."""

from starlette.routing import Route

from esign.core.user import Act, Stage
from esign.runtime import Runtime
from esign.web.office import account, arrivals, entrance, factor, members, place, server
from esign.web.office.door import Door, Line
from esign.web.office.tries import Tries
from esign.web.pages import Pages

TABLE = (
    # the entrance
    Line("GET", "/", entrance.start),
    Line("GET", "/sign-in", entrance.show),
    Line("POST", "/sign-in", entrance.sign_in, again=entrance.show),
    Line("GET", "/sign-in/code", entrance.show_code, Stage.HALF),
    Line("POST", "/sign-in/code", entrance.give_code, Stage.HALF, again=entrance.show_code),
    Line("POST", "/sign-out", entrance.sign_out, Act.READ),
    Line("GET", "/confirm", entrance.show_confirm, Act.READ),
    Line("POST", "/confirm", entrance.confirm, Act.READ, again=entrance.show_confirm),
    # links that were mailed or printed
    Line("GET", "/forgot", arrivals.show_forgot),
    Line("POST", "/forgot", arrivals.forgot, again=arrivals.show_forgot),
    Line("GET", "/password/{token}", arrivals.show_reset),
    Line("POST", "/password/{token}", arrivals.reset, again=arrivals.show_reset),
    Line("GET", "/invitation/{token}", arrivals.show_invitation),
    Line("POST", "/invitation/{token}", arrivals.join, again=arrivals.show_invitation),
    Line("GET", "/set-up/{token}", arrivals.show_setup),
    Line("POST", "/set-up/{token}", arrivals.set_up, again=arrivals.show_setup),
    # what an owner looks at before the first document is sent
    Line("GET", "/server/address", server.show_address, Act.OWN),
    Line("POST", "/server/address", server.check_address, Act.OWN),
    Line("GET", "/server/mail", server.show_mail, Act.OWN),
    Line("POST", "/server/mail", server.send_mail, Act.OWN),
    Line("GET", "/server/seal", server.show_seal, Act.OWN),
    Line("POST", "/server/seal", server.try_seal, Act.OWN),
    # where the session is
    Line("POST", "/mode", place.mode, Act.READ),
    Line("POST", "/organisation", place.organisation, Act.READ),
    # the person themself
    Line("GET", "/account", account.show, Act.READ),
    Line("POST", "/account/name", account.rename, Act.READ, again=account.show),
    Line("POST", "/account/password", account.change_password, Act.READ, again=account.show),
    Line("POST", "/account/sessions/end-others", account.end_others, Act.READ),
    Line("POST", "/account/sessions/{id}/end", account.end, Act.READ),
    Line("GET", "/account/second-factor", factor.show, Act.READ, fresh=True),
    Line("POST", "/account/second-factor", factor.enable, Act.READ, fresh=True, again=factor.show),
    Line("POST", "/account/second-factor/codes", factor.renew, Act.READ, fresh=True),
    Line("POST", "/account/second-factor/off", factor.disable, Act.READ, fresh=True),
    # the others
    Line("GET", "/members", members.show, Act.SETTLE),
    Line("POST", "/members", members.invite, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/role", members.change, Act.SETTLE, fresh=True, again=members.show),
    Line("POST", "/members/{id}/again", members.invite_again, Act.SETTLE, fresh=True, again=members.show),
    Line("GET", "/members/{id}/remove", members.ask, Act.SETTLE),
    Line("POST", "/members/{id}/remove", members.remove, Act.SETTLE, fresh=True, again=members.show),
)


def routes(runtime: Runtime, pages: Pages) -> list[Route]:
    door = Door(runtime, pages, Tries(runtime.clock))
    return [door.open(line) for line in TABLE]
