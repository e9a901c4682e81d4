-- The account of a budget in Redis: what crmclient/dataverse/http/process_budget.py does in a process.
--
-- Of each application user, three keys: a hash with the use of each part of the window (field "17:0" is that
-- of part 17 and group 0) and its sums ("s0"), the requests under way by the millisecond they began, and a
-- key that lives as long as a pause. Groups 0 to 3 count requests, 4 to 7 milliseconds of work.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local command = table.remove(ARGV, 1)
local limits = cjson.decode(table.remove(ARGV, 1))
local bucket = limits.window / limits.buckets
local at = math.floor(now / bucket)
local SPAN, GROUPS, SUMS = limits.span, 4, {}
for index = 0, 2 * GROUPS - 1 do
    SUMS[index + 1] = 's' .. index
end

local function fields(part)
    local names = {}
    for index = 0, 2 * GROUPS - 1 do
        names[index + 1] = part .. ':' .. index
    end
    return names
end

local function numbers(values)
    for index, value in ipairs(values) do
        values[index] = tonumber(value or 0) or 0
    end
    return values
end

-- Forget what is older than the window.
local function advance(use)
    local last = tonumber(redis.call('HGET', use, 'at') or 0)
    if last == at then
        return
    end
    if at - last >= SPAN then
        redis.call('DEL', use)
    else
        for part = last - SPAN + 1, at - SPAN do
            for index, spent in ipairs(numbers(redis.call('HMGET', use, unpack(fields(part))))) do
                if spent ~= 0 then
                    redis.call('HINCRBY', use, SUMS[index], -spent)
                end
            end
            redis.call('HDEL', use, unpack(fields(part)))
        end
    end
    redis.call('HSET', use, 'at', at)
end

local function add(use, index, amount)
    redis.call('HINCRBY', use, at .. ':' .. index, amount)
    redis.call('HINCRBY', use, 's' .. index, amount)
    redis.call('PEXPIRE', use, math.floor(2 * limits.window))
end

-- Requests and milliseconds that somebody else has used with the same user, until when.
local function others(use)
    local found = numbers(redis.call('HMGET', use, 'other requests', 'other work', 'others until'))
    if now >= found[3] then
        return 0, 0, 0
    end
    return found[1], found[2], found[3]
end

local function left(limit, used, besides, group)
    if limit >= limits.boundless then
        return limit
    end
    local rest = limit - besides
    local satisfied = used[group + 1] >= limit * limits.shares[group + 1]
    for other = 0, GROUPS - 1 do
        rest = rest - used[other + 1]
        if other ~= group then
            local entitled = limit * limits.shares[other + 1]
            local third = entitled / limits.kept
            local kept = satisfied and math.min(third, entitled - used[other + 1]) or third - used[other + 1]
            rest = rest - math.floor(math.max(0, kept))
        end
    end
    return rest
end

-- Milliseconds until the oldest of what counts no longer does.
local function relief(use, besides_until)
    local ends = besides_until
    for part = at - SPAN + 1, at do
        for _, spent in ipairs(numbers(redis.call('HMGET', use, unpack(fields(part))))) do
            if spent ~= 0 then
                local part_ends = (part + SPAN) * bucket
                return math.max(10, (ends > 0 and math.min(ends, part_ends) or part_ends) - now)
            end
        end
    end
    return ends > 0 and math.max(10, ends - now) or bucket
end

-- Use and requests under way, with the work of these: the platform may have counted it already.
local function standing(use, places)
    advance(use)
    redis.call('ZREMRANGEBYSCORE', places, '-inf', now - limits.lease)
    local sums = numbers(redis.call('HMGET', use, unpack(SUMS)))
    local requests, work, running = {}, {}, {0, 0, 0, 0}
    for group = 1, GROUPS do
        requests[group], work[group] = sums[group], sums[GROUPS + group]
    end
    local under_way = redis.call('ZRANGE', places, 0, -1, 'WITHSCORES')
    for index = 1, #under_way, 2 do
        local group = tonumber(string.sub(under_way[index], 1, 1)) + 1
        running[group] = running[group] + 1
        work[group] = work[group] + math.max(0, now - tonumber(under_way[index + 1]))
    end
    return requests, work, running, sums
end

-- How much of the scarcest part is left for a group; and why that is too little, with the milliseconds to wait.
local function room(user, group)
    local use, places = KEYS[3 * user + 1], KEYS[3 * user + 2]
    local pause = redis.call('PTTL', KEYS[3 * user + 3])
    if pause > 0 then
        return 0, 'pause', pause
    end
    local requests, work, running = standing(use, places)
    local besides, besides_work, besides_until = others(use)
    local few = left(limits.requests, requests, besides, group)
    local time = left(limits.work, work, besides_work, group)
    local seats = left(limits.places, running, 0, group)
    local part = math.min(few / limits.requests, time / limits.work, seats / limits.places)
    if few < 1 then
        return part, 'requests', relief(use, besides_until)
    end
    if time <= 0 then
        return part, 'work', relief(use, besides_until)
    end
    if seats < 1 then
        return part, 'places', 1000
    end
    return part
end

if command == 'take' then
    local group, only, id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
    local best, most, wait, reason
    local first, last = only, only
    if only < 0 then
        first, last = 0, #KEYS / 3 - 1
    end
    for user = first, last do
        local part, why, milliseconds = room(user, group)
        if not why then
            if not best or part > most then
                best, most = user, part
            end
        elseif not wait or milliseconds < wait then
            wait, reason = milliseconds, why
        end
    end
    if not best then
        local pauses = {}
        for user = 0, #KEYS / 3 - 1 do
            pauses[user + 1] = redis.call('PTTL', KEYS[3 * user + 3])
        end
        return {-1, math.ceil(wait), reason, pauses}
    end
    local use = KEYS[3 * best + 1]
    local under_way = redis.call('ZCARD', KEYS[3 * best + 2])
    add(use, group, 1)
    redis.call('ZADD', KEYS[3 * best + 2], now, group .. ':' .. id)
    redis.call('PEXPIRE', KEYS[3 * best + 2], limits.lease)
    local sums = numbers(redis.call('HMGET', use, unpack(SUMS)))
    return {best, sums[1] + sums[2] + sums[3] + sums[4] - under_way, sums[5] + sums[6] + sums[7] + sums[8]}
end

if command == 'settle' then
    local use, group = KEYS[1], tonumber(ARGV[1])
    advance(use)
    redis.call('ZREM', KEYS[2], group .. ':' .. ARGV[2])
    add(use, GROUPS + group, tonumber(ARGV[3]))
    local said, said_work = tonumber(ARGV[4]), tonumber(ARGV[5])
    if said < 0 and said_work < 0 then
        return 0
    end
    local besides, besides_work = others(use)
    if said >= 0 and limits.requests < limits.boundless then
        -- Somebody else has sent what the platform has counted beyond all that we have.
        local counted, sums = limits.requests - said, numbers(redis.call('HMGET', use, unpack(SUMS)))
        local ours = sums[1] + sums[2] + sums[3] + sums[4]
        besides = counted > ours and counted - tonumber(ARGV[6]) or 0
    end
    if said_work >= 0 and limits.work < limits.boundless then
        besides_work = limits.work - said_work - tonumber(ARGV[7])
    end
    local ends = math.floor(now + limits.window)
    redis.call('HSET', use, 'other requests', besides, 'other work', besides_work, 'others until', ends)
    return 0
end

-- command == 'standing'
local all = {}
for user = 0, #KEYS / 3 - 1 do
    local use = KEYS[3 * user + 1]
    local requests, work, running = standing(use, KEYS[3 * user + 2])
    local besides = others(use)
    local under_way = running[1] + running[2] + running[3] + running[4]
    local pause = math.max(0, redis.call('PTTL', KEYS[3 * user + 3]))
    all[user + 1] = {requests, work, math.floor(besides), under_way, pause}
end
return all
